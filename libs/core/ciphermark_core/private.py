"""Folders and files that their owner alone can read."""

from __future__ import annotations

import os
import stat
from pathlib import Path

FILE_MODE = 0o600
_OF_OTHERS = 0o066  # to read and to write; to pass through stays: under root, PostgreSQL is another user


def private_folder(path: Path) -> None:
    """Make a folder, and those that are missing above it, with mode 0700. A folder of this user that exists loses the
    rights of others to list and to change it, unless it is everybody's (sticky, such as ``/tmp``).
    """
    for folder in reversed(path.parents):
        if not folder.exists():
            folder.mkdir(mode=0o700, exist_ok=True)
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.stat()
    is_open = found.st_mode & _OF_OTHERS and not found.st_mode & stat.S_ISVTX
    if is_open and found.st_uid == os.geteuid() and os.access(path, os.W_OK):
        path.chmod(stat.S_IMODE(found.st_mode) & ~_OF_OTHERS)
