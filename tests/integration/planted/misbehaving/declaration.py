"""One variant per deed, ``planted-throws`` and so on; what they do is in ``deeds.py`` and ``adapter.py``.

Where ``PLANTED_DEEDS`` names some of them there are no others: a service describes all that there are when it starts,
each in a process of its own.
"""

import os
from dataclasses import replace

from ciphermark_adapters.cleartext import declaration as cleartext

(_CLEARTEXT,) = cleartext.DECLARATIONS

# Deeds in the operation mul.
IN_MUL = (
    "throws",
    "segfaults",
    "segfaults-with-threads",
    "aborts",
    "hangs",
    "eats-memory",
    "gives-up",
    "exits",
    "exits-politely",
    "babbles",
    "scribbles",
    "wrong",
    "runs-dry",
    "wrong-later",
    "short",
    "not-a-number",
    "caches",
    "slow-clock",
    "coarse-clock",
    "waits",
)
# Deeds elsewhere.
ELSEWHERE = ("good", "debug", "no-keys", "dies-making-keys")


def _declaration(deed, implementation="misbehaving.adapter:Misbehaving", **changes):
    return replace(
        _CLEARTEXT,
        library="Planted",
        variant=f"planted-{deed}",
        implementation=implementation,
        is_reference=False,
        notes={"mul": f"{deed} in here"},
        **changes,
    )


_ALL = (
    *(_declaration(deed) for deed in (*IN_MUL, *ELSEWHERE)),
    _declaration("no-import", "misbehaving.broken:Adapter"),
    _declaration(
        "missing", requires=("a_module_that_nobody_has",), remedy="pip install a-module-that-nobody-has"
    ),
    _declaration("elsewhere", isa=("a_flag_that_no_cpu_has",)),
)
_wanted = os.environ.get("PLANTED_DEEDS", "").split()
DECLARATIONS = tuple(item for item in _ALL if not _wanted or item.variant.removeprefix("planted-") in _wanted)
