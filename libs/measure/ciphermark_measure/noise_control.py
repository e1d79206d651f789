"""Wrong, or out of noise budget? A control experiment where the library does not tell.

The same operations on the same vectors are executed once more with a longer modulus chain. Right there, what was wrong
with the shorter one is the noise: exhausted. Wrong there too, it is the library. Decided once per worker, operation and
count; see docs/decisions/0013.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import product

from ciphermark_contract.interfaces import Exhausted, Unsupported
from ciphermark_contract.operations import multiplies, read
from ciphermark_core.descriptor import REPETITIONS
from ciphermark_core.model import Case, Parameters, ParameterSpec
from ciphermark_measure.session import Session, prepare

# Whether the result of a case comes out right in another session.
Attempt = Callable[[Session], bool]

_SPARE_BITS = 16  # what the bounds of ciphermark_core.chains have beside t and N, rounded up
_SIZES = (None, 50, 54)  # of added primes: like the others, or what a library may have more of


def is_right_with_more_room(session: Session, case: Case, attempt: Attempt) -> bool | None:
    """Whether ``attempt`` succeeds with a longer modulus chain; ``None`` where no such control can be had."""
    key = (case.operation, REPETITIONS.of(case.dimensions))
    if key not in session.controls:
        session.controls[key] = _controlled(session, case, attempt)
    return session.controls[key]


def _controlled(session: Session, case: Case, attempt: Attempt) -> bool | None:
    for spec in longer(session.parameters, room_bits(session.parameters, case)):
        with suppress(
            Unsupported, Exhausted
        ):  # the next one, then; anything else spoils the trial and is told
            return attempt(prepare(session.declaration.variant, spec, session.keys))
    return None


def room_bits(parameters: Parameters, case: Case) -> int:
    """Bits of modulus that noise can take in the whole case: t·N and some for every multiplication. Pure."""
    assert parameters.plain_modulus is not None
    count = REPETITIONS.of(case.dimensions) or 1
    growth = math.log2(parameters.plain_modulus) + math.log2(parameters.ring_dimension) + _SPARE_BITS
    if multiplies(read(case.operation)):
        return math.ceil((count + 1) * growth)
    return math.ceil(growth + math.log2(count))


def longer(parameters: Parameters, room: int) -> Iterator[ParameterSpec]:
    """Requests for the same with ``room`` bits more of modulus, whatever its security. Pure."""
    sizes = parameters.spec.modulus_bits or parameters.modulus_bits
    data = sizes[:-1] or sizes
    for asked, more in product(_SIZES, range(3)):
        size = asked or data[-1]
        total = sum(data) + room
        count = math.ceil(total / (size - 1)) + more
        chain = (*[size] * count, max(size, sizes[-1]))
        yield replace(parameters.spec, modulus_bits=chain, security=0)
