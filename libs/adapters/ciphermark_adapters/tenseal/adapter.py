"""TenSEAL's vector API behind the contract.

Every ciphertext is a TenSEAL vector of exactly all slots. Automatic relinearization can only be switched
on a context with a secret key, so public material holds two contexts: one with all automatic features off,
for the primitive operations, and one with all of them on, for the managed ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import tenseal as ts

from ciphermark_adapters import provenance
from ciphermark_adapters.seal_wrappers import SealBound, padded
from ciphermark_adapters.tenseal import parameters as parameter_sets
from ciphermark_adapters.tenseal.managed import ManagedVectors, VectorOperator
from ciphermark_contract.declaration import Declaration, DeclaredEvaluator
from ciphermark_contract.interfaces import (
    Adapter,
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
from ciphermark_contract.operations import OPERATIONS, top_level
from ciphermark_core.model import LibraryInfo, Parameters, ParameterSpec

_COMPRESSION = "zstd"  # SEAL's default, which TenSEAL does not let one change
_SEAL_MAGIC = b"\x5e\xa1"
_LIBRARY = "libtenseal.so"


@dataclass(frozen=True, slots=True)
class PublicMaterial:
    """What an evaluator gets: parameters and two serialized contexts without secret key."""

    parameters: Parameters
    has_relinearization: bool
    primitive: bytes
    managed: bytes


def _vector_class(parameters: Parameters) -> Any:
    return ts.CKKSVector if parameters.spec.scheme == "ckks" else ts.BFVVector


def _require_zstd(compression: str) -> None:
    if compression != _COMPRESSION:
        raise Unsupported(f"TenSEAL always compresses with {_COMPRESSION}; {compression} cannot be chosen")


class TensealKeyOwner(KeyOwner):
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

    def encrypt(self, values: Vector) -> Handle:
        return self._vector(self._context, padded(values, self.parameters.slots))

    def decrypt(self, ciphertext: Handle) -> Vector:
        return self._normalised(ciphertext.decrypt())

    def bind_encrypt(self, rows: Sequence[Row]) -> Bound:
        full = [(padded(values, self.parameters.slots),) for (values,) in rows]
        return SealBound(partial(self._vector, self._context), full)

    def bind_decrypt(self, rows: Sequence[Row]) -> Bound:
        """See the contract: the conversion to numpy stays off the clock."""
        return SealBound(self._vector.decrypt, rows, self._normalised)

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

    def _normalised(self, values: list[Any]) -> Vector:
        if self.parameters.plain_modulus is None:
            return np.array(values, dtype=np.float64)
        centred: Vector = np.array(values, dtype=np.int64)
        return centred % self.parameters.plain_modulus

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
        self,
        values: Vector,
        like: Handle | None = None,
        scale: float | None = None,
        level: int | None = None,
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
def _build_facts() -> dict[str, str]:
    """What the installed wheel tells about its making."""
    package = distribution("tenseal")
    tags = re.findall(r"^Tag: (.+)$", package.read_text("WHEEL") or "", re.MULTILINE)
    library = Path(next(str(file.locate()) for file in package.files or () if file.name == _LIBRARY))
    sample = ts.context(ts.SCHEME_TYPE.BFV, 4096, 65537, n_threads=1).serialize(False, False, False, False)
    header = sample[sample.index(_SEAL_MAGIC) :]
    return {
        "seal": f"{header[3]}.{header[4]}",
        "wheel": " ".join(tags),
        **provenance.of_binary(library),
        "hexl": "on" if b"hexl" in library.read_bytes() else "off",
    }


class TensealAdapter(Adapter):
    """TenSEAL as its wheel was built."""

    def __init__(self, declared: Declaration) -> None:
        self._declared = declared

    def info(self) -> LibraryInfo:
        build = _build_facts()
        return LibraryInfo(
            "TenSEAL", self._declared.variant, str(ts.__version__), build["hexl"] == "on", build
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
