"""TenSEAL's vector API behind the contract.

Every ciphertext is a TenSEAL vector of exactly all slots. Automatic relinearization can be switched on or off only on
a context with a secret key. Public material therefore holds two contexts: one with all automatic features off, for the
primitive operations, and one with all of them on, for the managed ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any

import msgspec
import tenseal as ts

from ciphermark_adapters.seal_wrappers import SealBound, WrapperKeyOwner, padded, wheel_facts
from ciphermark_adapters.tenseal import parameters as parameter_sets
from ciphermark_contract.declaration import Declaration, DeclaredAdapter, DeclaredEvaluator
from ciphermark_contract.interfaces import (
    Bound,
    Evaluator,
    Handle,
    KeyOwner,
    KeyRequest,
    Operator,
    Row,
    Unsupported,
    Vector,
)
from ciphermark_contract.operations import OPERATIONS, Kind, top_level
from ciphermark_core.model import LibraryInfo, Parameters, ParameterSpec

_COMPRESSION = "zstd"  # SEAL's default, which TenSEAL fixes


@dataclass(frozen=True, slots=True)
class PublicMaterial:
    """Material for an evaluator: parameters, and two serialized contexts without a secret key."""

    parameters: Parameters
    has_relinearization: bool
    primitive: bytes
    managed: bytes


def _vector_class(parameters: Parameters) -> Any:
    return ts.CKKSVector if parameters.spec.scheme == "ckks" else ts.BFVVector


def _require_zstd(compression: str) -> None:
    if compression != _COMPRESSION:
        raise Unsupported(f"TenSEAL always compresses with {_COMPRESSION}; {compression} cannot be chosen")


def _second_kind(name: str) -> Kind | None:
    operands = OPERATIONS[name].operands
    return operands[1] if len(operands) > 1 else None


class VectorOperator(Operator):
    """Applies methods of TenSEAL's vectors, after checking their arguments for the scheme."""

    parameters: Parameters

    def apply(self, operation: str, *operands: Any) -> Handle:
        return SealBound.once(self._function_for(operation, operands), *operands)

    def bind(self, operation: str, rows: Sequence[Row]) -> Bound:
        for row in rows:
            self._function_for(operation, row)
        return SealBound(self.function(operation), rows)

    def _function_for(self, operation: str, operands: Sequence[Any]) -> Callable[..., Handle]:
        function = self.function(operation)
        OPERATIONS[operation].require_arguments(self.parameters.spec.scheme, operands)
        return function


class ManagedVectors(VectorOperator):
    """TenSEAL's own automatic relinearization, rescaling and modulus switching.

    The vector methods are applied while the first operand is linked to the automatic context. ``contexts`` are the
    primitive and the automatic one; returned handles are always linked to the primitive one.
    """

    def __init__(
        self,
        methods: Mapping[str, Callable[..., Handle]],
        names: Sequence[str],
        contexts: tuple[Any, Any],
        evaluator: Evaluator,
    ) -> None:
        self._primitive, self._automatic = contexts
        self._evaluator = evaluator
        self.parameters = evaluator.parameters
        self._slots = evaluator.parameters.slots
        # ckks switches the second operand in place where levels differ; bfv has no levels and copies it
        keeps_second = evaluator.parameters.spec.scheme == "bfv"
        appliers: dict[Kind | None, Callable[..., Handle]] = {
            Kind.PLAINTEXT: self._with_plain,
            Kind.CIPHERTEXT: self._linked if keeps_second else self._with_copy,
        }
        self._table = {
            name: partial(appliers.get(_second_kind(name), self._linked), methods[name]) for name in names
        }

    @property
    def operations(self) -> Mapping[str, Callable[..., Handle]]:
        """The managed operations for which keys exist."""
        return self._table

    def reason_against(self, operation: str) -> str:
        """Return the evaluator's reason, or the missing keys."""
        if operation in self._evaluator.operations:
            return f"managed {operation} needs relinearization keys; none were requested"
        return self._evaluator.reason_against(operation)

    def _linked(self, method: Callable[..., Handle], a: Handle, *others: Any) -> Handle:
        a.link_context(self._automatic)
        try:
            result = method(a, *others)
        finally:
            a.link_context(self._primitive)
        result.link_context(self._primitive)
        return result

    def _with_copy(self, method: Callable[..., Handle], a: Handle, b: Handle) -> Handle:
        return self._linked(method, a, b.pow(1))  # the first power is TenSEAL's cheapest copy

    def _with_plain(self, method: Callable[..., Handle], a: Handle, values: Vector) -> Handle:
        return self._linked(method, a, padded(values, self._slots))


class TensealKeyOwner(WrapperKeyOwner):
    """The client's context with all keys."""

    def __init__(self, parameters: Parameters, keys: KeyRequest) -> None:
        self.parameters = parameters
        self._keys = keys
        self._vector = _vector_class(parameters)
        is_ckks = parameters.spec.scheme == "ckks"
        self._context: Any = ts.context(
            ts.SCHEME_TYPE.CKKS if is_ckks else ts.SCHEME_TYPE.BFV,
            parameters.ring_dimension,
            parameters.plain_modulus,
            parameter_sets.requested_chain(parameters.spec),
            n_threads=1,
        )
        if is_ckks:
            self._context.global_scale = parameters.scale
        self._encrypt = partial(self._vector, self._context)
        self._decrypt = self._vector.decrypt

    def noise_budget_bits(self, ciphertext: Handle) -> int | None:
        if self.parameters.spec.scheme != "bfv":
            return None
        (inner,) = ciphertext.ciphertext()
        return int(self._context.decryptor().data.invariant_noise_budget(inner))

    def public_material(self) -> Iterator[bytes]:
        material = PublicMaterial(
            parameters=self.parameters,
            has_relinearization=self._keys.relinearization is not None,
            primitive=self._without_secret(automatic=False),
            managed=self._without_secret(automatic=True),
        )
        yield msgspec.msgpack.encode(material)

    def dump(self, ciphertext: Handle, compression: str) -> bytes:
        _require_zstd(compression)
        return bytes(ciphertext.serialize())

    def load(self, data: bytes) -> Handle:
        return self._vector.load(self._context, data)

    def bind_key_generation(self, item: str) -> Bound:
        """See the contract: a copy of the context, whose new keys replace its old ones."""
        makers = {"relinearization_key": "generate_relin_keys"}
        if item not in makers:
            return super().bind_key_generation(item)
        return SealBound(getattr(self._context.copy(), makers[item]), [()])

    def dump_key(self, item: str, compression: str) -> bytes:
        """See the contract. TenSEAL's format is a context message: parameters and one key."""
        _require_zstd(compression)
        items = {"parameters": "", "public_key": "public", "secret_key": "secret"}
        if self._keys.relinearization:
            items["relinearization_keys"] = "relin"
        if item not in items:
            raise Unsupported(f"there are no {item.replace('_', ' ')} here")
        return bytes(
            self._context.serialize(
                save_public_key=items[item] == "public",
                save_secret_key=items[item] == "secret",
                save_galois_keys=False,
                save_relin_keys=items[item] == "relin",
            )
        )

    def _without_secret(self, automatic: bool) -> bytes:
        context = self._context
        context.auto_relin = context.auto_rescale = context.auto_mod_switch = automatic
        relin = automatic and self._keys.relinearization is not None
        return bytes(context.serialize(save_galois_keys=False, save_relin_keys=relin))


class TensealEvaluator(VectorOperator, DeclaredEvaluator):
    """The server's contexts: no secret key in either."""

    def __init__(self, material: PublicMaterial, declared: Declaration) -> None:
        keys = KeyRequest.of(relinearization=material.has_relinearization)
        super().__init__(material.parameters, keys, declared)
        self._material = material
        self._vector = _vector_class(material.parameters)
        self._context: Any = ts.context_from(material.primitive, n_threads=1)
        self._is_ckks = material.parameters.spec.scheme == "ckks"
        vector = self._vector
        methods: dict[str, Callable[..., Handle]] = {
            "negate": vector.neg,
            "add": vector.add,
            "sub": vector.sub,
            "add_plain": vector.add,
            "sub_plain": vector.sub,
            "mul_plain": vector.mul,
            "mul": vector.mul,
            "mul_full": self._mul_full,
            "square": vector.square,
            "add_scalar": vector.add,
            "mul_scalar": vector.mul,
        }
        self.offer(methods)

    def encode(
        self, values: Vector, like: Handle | None = None, scale: float | None = None, level: int | None = None
    ) -> Handle:
        """See the contract; TenSEAL encodes inside its operations, at the top level and default scale."""
        if self._is_ckks:
            if level is None and like is not None:
                level = self.level(like)
            if level is not None and level < len(self.parameters.moduli) - 1:
                raise Unsupported(
                    "TenSEAL encodes plaintexts at the top level only: see the managed operations"
                )
            if scale is not None and scale != self.parameters.scale:
                raise Unsupported(f"TenSEAL encodes plaintexts at scale {self.parameters.scale} only")
        dtype = "float" if self._is_ckks else "int"
        return ts.plain_tensor(padded(values, self.parameters.slots), dtype=dtype)

    def load(self, data: bytes) -> Handle:
        return self._vector.load(self._context, data)

    def dump(self, ciphertext: Handle, compression: str) -> bytes:
        _require_zstd(compression)
        return bytes(ciphertext.serialize())

    def level(self, ciphertext: Handle) -> int:
        """See the contract: moduli that do not exceed t are no levels."""
        unusable = len(self.parameters.moduli) - 1 - top_level(self.parameters)
        return int(ciphertext.ciphertext()[0].coeff_modulus_size()) - 1 - unusable

    def scale(self, ciphertext: Handle) -> float | None:
        """See the contract: the ciphertext's scale, not the vector's initial one."""
        return float(ciphertext.ciphertext()[0].scale) if self._is_ckks else None

    def polynomials(self, ciphertext: Handle) -> int:
        return int(ciphertext.ciphertext()[0].size())

    @cached_property
    def _automatic(self) -> Operator:
        return self.managed()

    def _mul_full(self, a: Handle, b: Handle) -> Handle:
        return self._automatic.operations["mul"](a, b)

    def managed(self) -> Operator:
        context = ts.context_from(self._material.managed, n_threads=1)
        names = [
            name
            for name in self._declared.managed[self.parameters.spec.scheme]
            if self._material.has_relinearization or not OPERATIONS[name].is_product
        ]
        return ManagedVectors(self.operations, names, (self._context, context), self)


@cache
def _facts() -> dict[str, str]:
    """Build facts of the installed wheel."""
    sample = ts.context(ts.SCHEME_TYPE.BFV, 4096, 65537, n_threads=1).serialize(False, False, False, False)
    return wheel_facts("tenseal", "libtenseal.so", sample)


class TensealAdapter(DeclaredAdapter):
    """TenSEAL from its wheel."""

    def info(self) -> LibraryInfo:
        facts = _facts()
        return LibraryInfo(
            "TenSEAL", self._declared.variant, str(ts.__version__), facts["hexl"] == "on", facts
        )

    def resolve(self, spec: ParameterSpec) -> Parameters:
        return parameter_sets.resolve(spec)

    def key_owner(self, parameters: Parameters, keys: KeyRequest) -> KeyOwner:
        if keys.rotations or keys.automorphisms:
            raise Unsupported(self._declared.reasons["rotate"])
        return TensealKeyOwner(parameters, keys)

    def evaluator(self, public_material: Iterable[bytes]) -> Evaluator:
        return TensealEvaluator(
            msgspec.msgpack.decode(b"".join(public_material), type=PublicMaterial), self._declared
        )
