"""What the installed wheel tells about its making."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import openfhe

from ciphermark_adapters import provenance


def version() -> str:
    """The version of OpenFHE itself: the wrapper counts its own releases in a fourth figure."""
    return ".".join(str(openfhe.__version__).split(".")[:3])


@cache
def facts() -> dict[str, str]:
    """Wheel, wrapper, word size, interpreter, and what the binaries of library and wrapper tell of their making."""
    folder = Path(openfhe.__file__).parent
    library = provenance.of_binary(*_libraries(folder))
    wrapper = provenance.of_binary(*sorted(folder.glob("openfhe*.so")))
    return {
        "wheel": _wheel(),
        "wrapper": str(openfhe.__version__),
        **library,
        "compiler of the wrapper": wrapper[provenance.COMPILER],
        "flags of the wrapper": wrapper[provenance.FLAGS],
        "native integer": f"{openfhe.get_native_int()} bits",
        "python": platform.python_version(),
        "threads": "OpenMP",
        "hexl": "on" if has_hexl() else "off",
    }


@cache
def has_hexl() -> bool:
    """Whether Intel HEXL is in the library: its names are, where it is linked in, or its own library lies there."""
    folder = Path(openfhe.__file__).parent
    is_beside = any(folder.rglob("libhexl*.so*"))
    return is_beside or any(b"intel4hexl" in path.read_bytes() for path in _libraries(folder))


def _libraries(folder: Path) -> list[Path]:
    """OpenFHE's own libraries, that of polynomials first; the wrapper where it has all in it."""
    found = [path for path in sorted(folder.rglob("libOPENFHE*.so*")) if path.is_file()]
    first = [path for path in found if "core" in path.name]
    return [*first, *(path for path in found if path not in first)] or sorted(folder.glob("openfhe*.so"))


def _wheel() -> str:
    try:
        return distribution("openfhe").version
    except PackageNotFoundError:
        return f"{provenance.UNKNOWN}it was not installed as a package"
