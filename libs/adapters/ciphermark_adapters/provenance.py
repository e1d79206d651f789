"""Build facts of libraries: compiler and flags of the library, separate from those of our native module.

Standard library only: the setup also imports it. An unknown fact states the reason.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Protocol

from ciphermark_adapters import binaries

COMPILER = "compiler"
FLAGS = "flags"
BINARY = "binary"
TOLD_BY = "told by"
UNKNOWN = "not known: "
SUFFIX = ".library.json"


@cache
def of_binary(*paths: Path) -> dict[str, str]:
    """Facts from the binaries of a library; the digest is that of the first one."""
    makings = [binaries.making(path) for path in paths]
    compilers = dict.fromkeys(item for making in makings for item in making.compilers)
    flags = dict.fromkeys(item for making in makings for item in making.flags)
    name = paths[0].name
    return {
        COMPILER: "; ".join(compilers) or f"{UNKNOWN}{name} is not signed by a compiler",
        FLAGS: "; ".join(flags) or f"{UNKNOWN}{name} has no debug information, and no record of its build",
        BINARY: binaries.digest(paths[0]),
        TOLD_BY: "its debug information" if flags else "its binary",
    }


class NativeModule(Protocol):
    """A native module of ours: its name and its file."""

    __name__: str
    __file__: str


def beside(module: NativeModule) -> dict[str, str]:
    """The facts that the setup recorded next to our native module about the library it was built against."""
    file = Path(module.__file__)
    record = file.with_name(f"{module.__name__}{SUFFIX}")
    try:
        facts: dict[str, str] = json.loads(record.read_text())
    except (FileNotFoundError, ValueError):
        missing = f"{UNKNOWN}{record.name} is missing next to the module; run python3 setup/install.py"
        return {COMPILER: missing, FLAGS: missing}
    return facts
