"""Where in a user's own file an exception came from. Apart from :mod:`.own`, for workers that load no workloads."""

from __future__ import annotations

import traceback
from pathlib import Path

MODULE = "_ciphermark_own_"
"""What the names of modules begin with that are files of a user's own."""


def innermost(error: BaseException) -> str | None:
    """Where in whichever file of a user's own an exception, or what caused it, came from; ``None`` where it did not."""
    found = None if error.__cause__ is None else innermost(error.__cause__)
    if found is not None:
        return found
    for frame, line in traceback.walk_tb(error.__traceback__):
        if is_in_file(str(frame.f_globals.get("__name__", ""))):
            found = f"{Path(frame.f_code.co_filename).name}:{line}, in {frame.f_code.co_name}"
    return found


def is_in_file(module: str) -> bool:
    """Whether a module is a file of a user's own."""
    return module.startswith(MODULE)
