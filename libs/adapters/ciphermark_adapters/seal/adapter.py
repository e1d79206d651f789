"""The contract over SEAL: schemes bfv, bgv and ckks, every loop native."""

from __future__ import annotations

from collections.abc import Iterable

from ciphermark_adapters import provenance
from ciphermark_adapters.seal import binding
from ciphermark_adapters.seal import parameters as seal_parameters
from ciphermark_adapters.seal.evaluator import SealEvaluator
from ciphermark_adapters.seal.key_owner import SealKeyOwner
from ciphermark_contract.declaration import Declaration
from ciphermark_contract.interfaces import Adapter, Evaluator, KeyOwner, KeyRequest
from ciphermark_core.model import LibraryInfo, Parameters, ParameterSpec


class SealAdapter(Adapter):
    """SEAL as the native module that the declaration requires has it."""

    def __init__(self, declared: Declaration) -> None:
        self._declared = declared
        (name,) = declared.requires
        self._module = binding.load(name)

    def info(self) -> LibraryInfo:
        module = self._module
        return LibraryInfo(
            library=self._declared.library,
            variant=self._declared.variant,
            version=module.seal_version,
            hexl=module.has_hexl,
            build=provenance.beside(module) | module.build_facts,
            is_debug=module.is_debug_build,
        )

    def resolve(self, spec: ParameterSpec) -> Parameters:
        return seal_parameters.resolve(self._module, spec)

    def key_owner(self, parameters: Parameters, keys: KeyRequest) -> KeyOwner:
        return SealKeyOwner(self._module, parameters, keys)

    def evaluator(self, public_material: Iterable[bytes]) -> Evaluator:
        return SealEvaluator(self._module, self._declared, public_material)
