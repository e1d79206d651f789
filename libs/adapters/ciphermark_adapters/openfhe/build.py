"""What the installed wheel tells about its making."""

from __future__ import annotations

import platform
import re
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

import openfhe


def version() -> str:
    """The version of OpenFHE itself: the wrapper counts its own releases in a fourth figure."""
    return ".".join(str(openfhe.__version__).split(".")[:3])


@cache
def facts() -> dict[str, str]:
    """Wheel, wrapper, word size, compiler and interpreter."""
    folder = Path(openfhe.__file__).parent
    binary = b"".join(path.read_bytes() for path in folder.glob("*.so"))
    compilers = sorted({found.decode() for found in re.findall(rb"GCC: \([^)]*\) [\w.]+", binary)})
    return {
        "wheel": distribution("openfhe").version,
        "wrapper": str(openfhe.__version__),
        "native integer": f"{openfhe.get_native_int()} bits",
        "compiler": "; ".join(compilers) or "unknown",
        "python": platform.python_version(),
        "threads": "OpenMP",
        "hexl": "off",
    }
