"""The contract over OpenFHE: schemes bfv, bgv and ckks through the wrapper's own calls."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ciphermark_adapters.openfhe import build
from ciphermark_adapters.openfhe import parameters as parameter_sets
from ciphermark_adapters.openfhe.evaluator import OpenFheEvaluator
from ciphermark_adapters.openfhe.key_owner import OpenFheKeyOwner
from ciphermark_adapters.openfhe.public_material import PublicMaterial
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
        return LibraryInfo(
            declared.library, declared.variant, build.version(), build.has_hexl(), build.facts()
        )

    def resolve(self, spec: ParameterSpec) -> Parameters:
        return parameter_sets.resolve(spec)

    def key_owner(self, parameters: Parameters, keys: KeyRequest) -> KeyOwner:
        requests.require_key_switching(parameters, keys)
        return OpenFheKeyOwner(parameters, keys)

    def evaluator(self, public_material: Iterable[bytes]) -> Evaluator:
        return OpenFheEvaluator(
            msgspec.msgpack.decode(b"".join(public_material), type=PublicMaterial), self._declared
        )
