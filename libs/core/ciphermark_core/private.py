"""Folders and files that only their owner can read."""

from __future__ import annotations

import os
import stat
from pathlib import Path

FILE_MODE = 0o600
_OF_OTHERS = 0o066  # read and write; others keep the execute bit: under root, PostgreSQL runs as another user


def private_folder(path: Path) -> None:
    """Create a folder and its missing parents with mode 0700.

    Other users lose the rights to list and change an existing folder of this user, unless it is sticky (``/tmp``).
    """
    for folder in reversed(path.parents):
        if not folder.exists():
            folder.mkdir(mode=0o700, exist_ok=True)
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.stat()
    is_open = found.st_mode & _OF_OTHERS and not found.st_mode & stat.S_ISVTX
    if is_open and found.st_uid == os.geteuid() and os.access(path, os.W_OK):
        path.chmod(stat.S_IMODE(found.st_mode) & ~_OF_OTHERS)
