"""What a worker prepares once: library, parameters and keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from ciphermark_adapters import registry
from ciphermark_adapters.contract import Evaluator, Handle, KeyOwner, KeyRequest, Unsupported, Vector
from ciphermark_adapters.declaration import Declaration
from ciphermark_core.words import LibraryInfo, Parameters, ParameterSpec
from ciphermark_measure import safety

# operations that key switching makes possible
KEYED = ("relinearize", "rotate", "rotate_columns")


@dataclass(frozen=True, slots=True)
class Session:
    """One variant with one parameter set and its keys: the ground of every trial of a worker."""

    declaration: Declaration
    library: LibraryInfo
    parameters: Parameters
    owner: KeyOwner
    evaluator: Evaluator
    keys_s: float

    def to_evaluator(self, values: Sequence[Vector]) -> list[Handle]:
        """Encrypt vectors and hand the ciphertexts over, as bytes."""
        return [self.evaluator.load(self._dumped(vector)) for vector in values]

    def decrypted(self, ciphertexts: Sequence[Handle]) -> list[Vector]:
        """Hand results back to the owner and decrypt them."""
        return [self.owner.decrypt(self.to_owner(item)) for item in ciphertexts]

    def to_owner(self, ciphertext: Handle) -> Handle:
        """Hand one ciphertext back to the owner, as bytes."""
        return self.owner.load(self.evaluator.dump(ciphertext, self._compression))

    def require_keys_for(self, operation: str) -> None:
        """Raise ``Unsupported`` where key switching is needed and the chain is too short for it."""
        if operation in KEYED and not self.parameters.special_moduli:
            raise Unsupported(f"{operation} needs key switching, and a chain of one prime leaves none for it")

    @property
    def _compression(self) -> str:
        return self.declaration.compressions[0]

    def _dumped(self, vector: Vector) -> bytes:
        return self.owner.dump(self.owner.encrypt(vector), self._compression)


def prepare(variant: str, spec: ParameterSpec, keys: KeyRequest) -> Session:
    """Load the library, resolve the parameters, check their security and make keys.

    Raises ``Unsupported`` for what cannot exist or is less secure than asked. Keys that the
    variant has no operation for, or the chain no room for, are not made.
    """
    declared = registry.declaration(variant)
    if spec.scheme not in declared.schemes:
        raise Unsupported(f"{declared.library} offers no {spec.scheme} here")
    adapter = registry.load(variant)
    parameters = adapter.resolve(spec)
    _require_security(parameters)
    request = _possible(keys, declared, parameters)
    start = perf_counter()
    owner = adapter.key_owner(parameters, request)
    evaluator = adapter.evaluator(owner.public_material())
    library = replace(adapter.info(), is_reference=declared.is_reference)
    return Session(declared, library, parameters, owner, evaluator, perf_counter() - start)


def _require_security(parameters: Parameters) -> None:
    asked = parameters.spec.security
    reason = safety.reason_against(parameters.ring_dimension, parameters.log_qp, asked)
    if reason is not None:
        raise Unsupported(reason)


def _possible(keys: KeyRequest, declared: Declaration, parameters: Parameters) -> KeyRequest:
    scheme = parameters.spec.scheme
    if not parameters.special_moduli:
        return KeyRequest(relinearization=False)
    able = set(declared.operations[scheme]) | set(declared.managed[scheme])
    return KeyRequest(
        relinearization=keys.relinearization and bool(able & {"relinearize", "mul"}),
        rotations=keys.rotations if "rotate" in able else (),
        columns=keys.columns and "rotate_columns" in able,
    )
