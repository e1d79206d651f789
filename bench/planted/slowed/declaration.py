"""SEAL under two names: ``planted-base`` as it is, ``planted-head`` with a slowdown that the environment states."""

from dataclasses import replace

from ciphermark_adapters.seal import declaration as seal

_SEAL = next(item for item in seal.DECLARATIONS if item.variant == "seal")
DECLARATIONS = tuple(
    replace(_SEAL, variant=f"planted-{name.lower()}", implementation=f"slowed.adapter:{name}", built_from=())
    for name in ("Base", "Head")
)
