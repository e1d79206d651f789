"""The contract over HElib: schemes bgv and ckks, every loop native."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ciphermark_adapters import provenance
from ciphermark_adapters.helib import binding
from ciphermark_adapters.helib import parameters as parameter_sets
from ciphermark_adapters.helib.evaluator import HElibEvaluator
from ciphermark_adapters.helib.key_owner import HElibKeyOwner
from ciphermark_adapters.helib.public_material import PublicMaterial
from ciphermark_contract import requests
from ciphermark_contract.declaration import Declaration
from ciphermark_contract.interfaces import Adapter, Evaluator, KeyOwner, KeyRequest
from ciphermark_core.model import LibraryInfo, Parameters, ParameterSpec


class HElibAdapter(Adapter):
    """HElib as the native module was built against it."""

    def __init__(self, declared: Declaration) -> None:
        self._declared = declared
        self._module = binding.module()

    def info(self) -> LibraryInfo:
        module = self._module
        return LibraryInfo(
            library=self._declared.library,
            variant=self._declared.variant,
            version=module.helib_version,
            hexl=self._declared.hexl,
            build=provenance.beside(module) | module.build_facts,
            is_debug=module.is_debug_build,
        )

    def resolve(self, spec: ParameterSpec) -> Parameters:
        return parameter_sets.resolve(spec)

    def key_owner(self, parameters: Parameters, keys: KeyRequest) -> KeyOwner:
        requests.require_key_switching(parameters, keys)
        return HElibKeyOwner(parameters, keys)

    def evaluator(self, public_material: Iterable[bytes]) -> Evaluator:
        material = msgspec.msgpack.decode(b"".join(public_material), type=PublicMaterial)
        return HElibEvaluator(material, self._declared)
