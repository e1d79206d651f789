"""Folders of blobs that last as long as their process, whatever ends it."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from time import time

_PREFIX = "ciphermark-blobs-"
_SETTLING_S = 60.0  # a younger folder may have an owner that has yet to lock it


class Scratch:
    """A new folder in the system's temporary folder, for this user alone; locked, so that nobody takes it for left."""

    def __init__(self) -> None:
        _remove_abandoned(Path(tempfile.gettempdir()))
        self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._lock = os.open(self.folder, os.O_RDONLY)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def end(self) -> None:
        """Remove the folder and all that is in it."""
        shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self._lock)


def _remove_abandoned(parent: Path) -> None:
    """Remove folders of processes that were killed: keys of a large ring take gigabytes."""
    for folder in parent.glob(f"{_PREFIX}*"):
        try:
            if time() - folder.stat().st_mtime > _SETTLING_S:
                _remove_unlocked(folder)
        except OSError:
            continue  # another user's, or in use, or gone by now


def _remove_unlocked(folder: Path) -> None:
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)
