"""Other interpreters: virtual environments for libraries that our Python cannot load.

The environment ``NAME`` is the folder ``.venv-NAME`` next to the running environment, where setup creates it, or in the
folder ``CIPHERMARK_ENVIRONMENTS``. A name that is a path is that folder itself.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

PATH_VARIABLE = "CIPHERMARK_ENVIRONMENTS"


def folder(environment: str) -> Path:
    """The folder of the environment, whether it exists or not."""
    if os.path.isabs(environment):
        return Path(environment)
    parent = os.environ.get(PATH_VARIABLE) or Path(sys.prefix).resolve().parent
    return Path(parent) / f".venv-{environment}"


def is_current(environment: str | None) -> bool:
    """Whether this process runs in the environment; always true for ``None``, the own environment."""
    return environment is None or folder(environment).resolve() == Path(sys.prefix).resolve()


def executable(environment: str | None) -> str:
    """The environment's interpreter."""
    if environment is None or is_current(environment):
        return sys.executable
    return str(folder(environment) / "bin" / "python")


def reason_against(environment: str | None) -> str | None:
    """Return why the environment's interpreter cannot be started, checked without starting it."""
    program = executable(environment)
    if os.access(program, os.X_OK):
        return None
    return f"its own Python interpreter is missing ({program})"


def has_module(environment: str | None, name: str) -> bool:
    """Whether a module is installed in the environment, checked without importing it."""
    if environment is None or is_current(environment):
        return find_spec(name) is not None
    return any(_modules(folder(environment), name))


def _modules(environment: Path, name: str) -> Iterator[Path]:
    for pattern in (f"{name}/__init__.py", f"{name}.py", f"{name}.*.so"):
        yield from environment.glob(f"lib/python3.*/site-packages/{pattern}")
