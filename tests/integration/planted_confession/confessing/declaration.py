"""One variant, ``confessing``: ``seal`` in everything else."""

from dataclasses import replace

from ciphermark_adapters.seal import declaration as seal

(_SEAL,) = (item for item in seal.DECLARATIONS if item.variant == "seal")

DECLARATIONS = (replace(_SEAL, variant="confessing", implementation="confessing.adapter:Confessing"),)
