"""Secret keys that the client's party keeps, in a folder of its own, until their trials have outcomes."""

from __future__ import annotations

import os
from pathlib import Path

from ciphermark_core.private import FILE_MODE, private_folder


class SecretKeys:
    """Files of secret keys by name, that only this user can read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def of(self, name: str) -> bytes | None:
        """The key of a name; ``None`` where none is kept."""
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            return None

    def keep(self, name: str, secret: bytes) -> None:
        """Write a key; whole, or not at all."""
        private_folder(self._folder)
        partial = self._folder / f".{name}"
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE_MODE), "wb") as file:
            file.write(secret)
            file.flush()
            os.fsync(file.fileno())
        partial.rename(self._folder / name)
