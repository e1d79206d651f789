"""SEAL under two names: ``planted-base`` as it is, ``planted-head`` with a slowdown that the environment states."""

from dataclasses import replace

from ciphermark_adapters.seal import declaration as seal

_SEAL = next(item for item in seal.DECLARATIONS if item.variant == "seal")
DECLARATIONS = tuple(
    replace(_SEAL, variant=variant, implementation="slowed.adapter:Slowed", built_from=())
    for variant in ("planted-base", "planted-head")
)
