"""The contract over OpenFHE: schemes bfv, bgv and ckks through the wrapper's own calls."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import msgspec
import openfhe

from ciphermark_adapters import provenance
from ciphermark_adapters.openfhe import parameters as parameter_sets
from ciphermark_adapters.openfhe.ciphertexts import PublicMaterial
from ciphermark_adapters.openfhe.evaluator import OpenFheEvaluator
from ciphermark_adapters.openfhe.key_owner import OpenFheKeyOwner
from ciphermark_contract import requests
from ciphermark_contract.declaration import Declaration
from ciphermark_contract.interfaces import Adapter, Evaluator, KeyOwner, KeyRequest
from ciphermark_core.model import LibraryInfo, Parameters, ParameterSpec


class OpenFheAdapter(Adapter):
    """OpenFHE as its wheel has it."""

    def __init__(self, declared: Declaration) -> None:
        self._declared = declared

    def info(self) -> LibraryInfo:
        declared = self._declared
        return LibraryInfo(declared.library, declared.variant, version(), has_hexl(), facts())

    def resolve(self, spec: ParameterSpec) -> Parameters:
        return parameter_sets.resolve(spec)

    def key_owner(self, parameters: Parameters, keys: KeyRequest) -> KeyOwner:
        requests.require_key_switching(parameters, keys)
        return OpenFheKeyOwner(parameters, keys)

    def evaluator(self, public_material: Iterable[bytes]) -> Evaluator:
        return OpenFheEvaluator(
            msgspec.msgpack.decode(b"".join(public_material), type=PublicMaterial), self._declared
        )


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
