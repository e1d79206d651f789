"""``seal`` that tells its secret key to the file named by ``CONFESSION``."""

from __future__ import annotations

import os
from pathlib import Path

from ciphermark_adapters.seal.adapter import SealAdapter


class Confessing(SealAdapter):
    def key_owner(self, parameters, keys):
        owner = super().key_owner(parameters, keys)
        Path(os.environ["CONFESSION"]).write_bytes(owner.dump_key("secret_key", "none"))
        return owner
