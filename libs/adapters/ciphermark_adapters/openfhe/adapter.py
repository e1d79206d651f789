"""The contract over OpenFHE: schemes bfv, bgv and ckks through the wrapper's own calls."""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, distribution
from itertools import islice
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import msgspec
import numpy as np
import openfhe

from ciphermark_adapters import provenance
from ciphermark_adapters.bindings import LibraryKeyOwner
from ciphermark_adapters.openfhe import bootstrapping, limits
from ciphermark_adapters.openfhe import parameters as parameter_sets
from ciphermark_adapters.openfhe.ciphertexts import (
    Naturalizer,
    OpenfheBound,
    PublicMaterial,
    checked,
    dump,
    load,
    nominal_scale,
)
from ciphermark_contract import requests
from ciphermark_contract.declaration import Declaration, DeclaredAdapter, DeclaredEvaluator
from ciphermark_contract.interfaces import (
    Bound,
    Evaluator,
    Handle,
    KeyOwner,
    KeyRequest,
    Row,
    Unsupported,
    Vector,
)
from ciphermark_core.model import LibraryInfo, Parameters, ParameterSpec

_REFUSED_RESULT = "approximation error is too high"


class OpenFheKeyOwner(LibraryKeyOwner):
    """Generates the keys in its constructor, all but a given ``pair``.

    OpenFHE keeps evaluation keys until the process ends, in maps by the tag of their secret key. Slots are infinite
    where it refuses to decode for lack of precision.
    """

    bound = OpenfheBound

    def __init__(self, parameters: Parameters, keys: KeyRequest, pair: bytes | None = None) -> None:
        self.parameters = parameters
        self._keys = keys
        context = self._context = parameter_sets.context_of(parameters)
        self._public_key, self._secret_key = _generated(context) if pair is None else _restored(pair)
        self._tag: str = self._public_key.GetKeyTag()
        if keys.relinearization:
            context.EvalMultKeyGen(self._secret_key)
        shared = limits.bootstrapping_rotations(parameters) if keys.bootstrapping else set()
        own = [step for step in keys.steps if step % (parameters.ring_dimension // 2) not in shared]
        steps = [context.FindAutomorphismIndex(step) for step in own]
        elements = [element % (2 * parameters.ring_dimension) for element in keys.elements]
        self._automorphism_keys = _AutomorphismKeys(context, self._secret_key, {*steps, *elements})
        if keys.bootstrapping:
            bootstrapping.generate_keys(context, parameters, self._secret_key)
        second = context.KeyGen().secretKey if keys.switching else self._secret_key
        self._secret_keys = {key.GetKeyTag(): key for key in (self._secret_key, second)}
        self._second_tag: str = second.GetKeyTag()
        self._switching_key = context.KeySwitchGen(self._secret_key, second) if keys.switching else None
        self._has_rotation_keys = bool(own or elements or keys.bootstrapping)
        is_real = parameters.scale is not None
        self._encode: Callable[..., Any] = (
            context.MakeCKKSPackedPlaintext if is_real else context.MakePackedPlaintext
        )
        self._encrypt = self._encrypted
        self._decrypt = self._decrypt_reals if is_real else self._decrypt_integers

    def noise_budget_bits(self, ciphertext: Handle) -> int | None:
        """See the contract; OpenFHE reports none."""
        return None

    def public_material(self) -> Iterator[bytes]:
        """See the contract: keys of automorphisms are written one by one, those of bootstrapping in pieces."""
        dumps, parameters = self._dumps(), self.parameters
        relinearization_keys = dumps["relinearization_keys"]() if self._keys.relinearization else None
        if relinearization_keys is not None:
            parameter_sets.require_special(relinearization_keys, parameters)
        material = PublicMaterial(
            parameters=parameters,
            key_tag=self._tag,
            context=dumps["parameters"](),
            relinearization_keys=relinearization_keys,
            automorphism_keys=len(self._automorphism_keys),
            switching_key=self._switching_key and openfhe.Serialize(self._switching_key, openfhe.BINARY),
            second_key_tag=self._second_tag,
            keys=self._keys,
        )
        yield msgspec.msgpack.encode(material)
        yield from self._automorphism_keys.dumped()
        if self._keys.bootstrapping:
            yield from bootstrapping.dumped_keys(self._context, parameters, self._tag)

    def dump_secret(self) -> bytes:
        """The pair, since OpenFHE makes no public key for a secret key."""
        dumps = self._dumps()
        return msgspec.msgpack.encode((dumps["public_key"](), dumps["secret_key"]()))

    def release_evaluation_keys(self) -> None:
        """See the contract. Keys of other owners in this process stay."""
        for maps in (kept := _kept()):
            maps.pop(self._tag, None)
        _restore(kept)
        self._automorphism_keys = _AutomorphismKeys(self._context, self._secret_key, ())

    def dump(self, ciphertext: Handle, compression: str) -> bytes:
        return dump(ciphertext, compression)

    def load(self, data: bytes) -> Handle:
        return load(data)

    def dump_key(self, item: str, compression: str) -> bytes:
        requests.require_uncompressed(compression, "OpenFHE")
        dumps = self._dumps()
        if item not in dumps:
            raise Unsupported(f"no {item.replace('_', ' ')} were made")
        return dumps[item]()

    def bind_key_generation(self, item: str) -> Bound:
        context = self._context
        bounds: dict[str, Bound] = {
            "key_pair": OpenfheBound(context.KeyGen, [()], lambda _: None),
            "relinearization_key": EvaluationKeyGeneration(context, context.EvalMultKeyGen),
            "rotation_key": EvaluationKeyGeneration(
                context, lambda secret: context.EvalAtIndexKeyGen(secret, [1])
            ),
        }
        return bounds[item] if item in bounds else super().bind_key_generation(item)

    def _dumps(self) -> dict[str, Callable[[], bytes]]:
        binary = openfhe.BINARY
        dumps: dict[str, Callable[[], bytes]] = {
            "parameters": lambda: openfhe.Serialize(self._context, binary),
            "public_key": lambda: openfhe.Serialize(self._public_key, binary),
            "secret_key": lambda: openfhe.Serialize(self._secret_key, binary),
        }
        if self._keys.relinearization:
            dumps["relinearization_keys"] = lambda: openfhe.SerializeEvalMultKeyString(binary, self._tag)
        if self._has_rotation_keys:
            dumps["rotation_keys"] = lambda: openfhe.SerializeEvalAutomorphismKeyString(binary, self._tag)
        return dumps

    def _filled(self, values: Vector) -> Vector:
        return checked(values, self.parameters)

    def _encrypted(self, values: Vector) -> Handle:
        return self._context.Encrypt(self._public_key, self._encode(values))

    def _key_of(self, ciphertext: Handle) -> Any:
        """The secret key of a ciphertext's tag; ours for unknown tags, whose decryption is noise."""
        return self._secret_keys.get(ciphertext.GetKeyTag(), self._secret_key)

    def _decrypt_integers(self, ciphertext: Handle) -> Vector:
        plaintext = self._context.Decrypt(self._key_of(ciphertext), ciphertext)
        plaintext.SetLength(self.parameters.slots)
        values: Vector = plaintext.GetPackedValueArray()
        return values

    def _decrypt_reals(self, ciphertext: Handle) -> Vector:
        slots = self.parameters.slots
        try:
            plaintext = self._context.Decrypt(self._key_of(ciphertext), ciphertext)
        except RuntimeError as error:
            if _REFUSED_RESULT in str(error):
                return np.full(slots, np.inf)
            raise
        plaintext.SetLength(slots)
        correction = nominal_scale(ciphertext, self.parameters) / ciphertext.GetScalingFactor()
        values: Vector = plaintext.GetRealPackedValueArray() * correction
        return values


def _generated(context: Any) -> tuple[Any, Any]:
    pair = context.KeyGen()
    return pair.publicKey, pair.secretKey


def _restored(pair: bytes) -> tuple[Any, Any]:
    public, secret = msgspec.msgpack.decode(pair, type=tuple[bytes, bytes])
    return (
        openfhe.DeserializePublicKeyString(public, openfhe.BINARY),
        openfhe.DeserializePrivateKeyString(secret, openfhe.BINARY),
    )


class EvaluationKeyGeneration(Bound):
    """Generation of evaluation keys, with a separate secret key per execution, whose generation is not timed.

    OpenFHE stores evaluation keys in maps by the tag of their secret key, and generates none for a known tag. The maps
    are restored afterwards.
    """

    prepares_in_run = True

    def __init__(self, context: Any, generate: Callable[[Any], object]) -> None:
        self._context = context
        self._generate = generate

    def run(self, loops: int) -> int:
        """See the contract: generating secret keys and restoring the maps are not timed."""
        secrets = [self._context.KeyGen().secretKey for _ in range(loops)]
        maps = _kept()
        start = perf_counter_ns()
        for secret in secrets:
            self._generate(secret)
        elapsed = perf_counter_ns() - start
        _restore(maps)
        return elapsed

    def results(self) -> list[Handle]:
        """No results: the keys are discarded."""
        return []


def _kept() -> tuple[dict[str, Any], dict[str, Any]]:
    kind = openfhe.CryptoContext
    products = {tag: kind.GetEvalMultKeyVector(tag) for tag in kind.GetAllEvalMultKeys()}
    turns = {tag: kind.GetEvalAutomorphismKeyMap(tag) for tag in kind.GetAllEvalAutomorphismKeys()}
    return products, turns


def _restore(kept: tuple[dict[str, Any], dict[str, Any]]) -> None:
    kind = openfhe.CryptoContext
    openfhe.ClearEvalMultKeys()
    kind.ClearEvalAutomorphismKeys()
    for tag, keys in kept[0].items():
        kind.InsertEvalMultKey(keys, tag)
    for tag, keys in kept[1].items():
        kind.InsertEvalAutomorphismKey(keys, tag)


class _AutomorphismKeys:
    """The keys of rotations and other automorphisms, each in a map of its own.

    The first map that OpenFHE generates for a secret key is the one to which it adds all later keys: it is written at
    once, while it has a single key.
    """

    def __init__(self, context: Any, secret_key: Any, elements: Collection[int]) -> None:
        generate, ordered = context.EvalAutomorphismKeyGen, sorted(elements)
        self._first = (
            [openfhe.Serialize(generate(secret_key, ordered[:1]), openfhe.BINARY)] if ordered else []
        )
        self._rest = [generate(secret_key, [element]) for element in ordered[1:]]

    def __len__(self) -> int:
        return len(self._first) + len(self._rest)

    def dumped(self) -> Iterator[bytes]:
        """Each key in turn."""
        yield from self._first
        yield from (openfhe.Serialize(keys, openfhe.BINARY) for keys in self._rest)


class OpenFheEvaluator(DeclaredEvaluator):
    """Computes with a context and evaluation keys."""

    def __init__(self, parts: Iterable[bytes], declared: Declaration) -> None:
        following = iter(parts)
        material = msgspec.msgpack.decode(next(following), type=PublicMaterial)
        super().__init__(material.parameters, material.keys, declared)
        self._top = len(material.parameters.moduli) - 1
        self._context = openfhe.DeserializeCryptoContextString(material.context, openfhe.BINARY)
        self._naturalizer = Naturalizer(self._context, is_real=self._scheme == "ckks")
        if material.keys.bootstrapping:
            bootstrapping.set_up(self._context, self.parameters)
        _take_keys(self._context, material, following)
        self.offer(self._functions(material))

    def apply(self, operation: str, *operands: Any) -> Handle:
        return OpenfheBound.once(super().apply, operation, *operands)

    def bound(self, operation: str, rows: Sequence[Row]) -> Bound:
        """Products of equal scales need no correction: only the library's call is timed."""
        function = self.functions[operation]
        if function == self._scaled_product and all(
            a.GetScalingFactor() == plaintext.GetScalingFactor() for a, plaintext in rows
        ):
            function = self._context.EvalMult
        return OpenfheBound(function, rows)

    def encode(
        self, values: Vector, like: Handle | None = None, scale: float | None = None, level: int | None = None
    ) -> Handle:
        """See the contract. A ckks scale other than a power of the default one is multiplied into the values."""
        full = checked(values, self.parameters)
        dropped = 0 if like is None else like.GetLevel()
        if level is not None:
            dropped = len(self.parameters.moduli) - 1 - level
        default = self.parameters.scale
        if default is None:
            return self._context.MakePackedPlaintext(full, 1, dropped)
        scale = scale or default
        degree = max(1, round(math.log2(scale) / math.log2(default)))
        plaintext = self._context.MakeCKKSPackedPlaintext(full * (scale / default**degree), degree, dropped)
        plaintext.SetScalingFactor(scale)
        return plaintext

    def load(self, data: bytes) -> Handle:
        """See the contract. The ciphertext becomes one of the library: see :class:`.ciphertexts.Naturalizer`."""
        return self._naturalizer.copied(load(data))

    def dump(self, ciphertext: Handle, compression: str) -> bytes:
        return dump(ciphertext, compression)

    def level(self, ciphertext: Handle) -> int:
        return self._top - int(ciphertext.GetLevel())

    def scale(self, ciphertext: Handle) -> float | None:
        return float(ciphertext.GetScalingFactor()) if self._scheme == "ckks" else None

    def polynomials(self, ciphertext: Handle) -> int:
        return int(ciphertext.NumberCiphertextElements())

    def _functions(self, material: PublicMaterial) -> dict[str, Callable[..., Handle]]:
        context = self._context
        multiply, rotate = context.EvalMultNoRelin, context.EvalRotate
        functions: dict[str, Callable[..., Handle]] = {
            "negate": context.EvalNegate,
            "add": context.EvalAdd,
            "sub": context.EvalSub,
            "add_plain": context.EvalAdd,
            "sub_plain": context.EvalSub,
            "add_plain_ntt": context.EvalAdd,
            "mul_plain": context.EvalMult if self._scheme != "ckks" else self._scaled_product,
            "mul_plain_ntt": context.EvalMult,
            "mul": multiply,
            "mul_full": self._full_products[self._scheme],
            "square": lambda a: multiply(a, a),
            "relinearize": context.Relinearize,
            "rescale": self._rescale,
            "rotate": lambda a, steps: rotate(a, steps) if steps else a.Clone(),
            "rotate_hoisted": self._rotate_hoisted,
            "add_many": lambda *several: context.EvalAddMany(several),
            "add_scalar": lambda a, number: context.EvalAdd(a, float(number)),
            "mul_scalar": self._scaled_by_number,
            "encode": self._encode_at_top,
            "encode_at_level": lambda values, like: context.MakeCKKSPackedPlaintext(
                values, 1, like.GetLevel()
            ),
            "mod_switch": context.ModReduce if self._scheme == "bgv" else self._level_reduce,
        }
        return functions | self._keyed_functions(material)

    def _keyed_functions(self, material: PublicMaterial) -> dict[str, Callable[..., Handle]]:
        """The functions of operations whose separate keys exist."""
        functions: dict[str, Callable[..., Handle]] = {}
        if material.keys.automorphisms:
            automorphism = self._automorphism(material.key_tag)
            functions |= dict.fromkeys(("rotate_columns", "conjugate"), lambda a: automorphism(a, -1))
            functions["substitute"] = automorphism
        if material.keys.bootstrapping:
            functions["bootstrap"] = partial(bootstrapping.bootstrapped, self._context, self.parameters)
        if material.switching_key is not None:
            functions["key_switch"] = self._key_switch(material.switching_key, material.second_key_tag)
        return functions

    def _key_switch(self, key: bytes, tag: str) -> Callable[[Handle], Handle]:
        switch, to_second = self._context.KeySwitch, openfhe.DeserializeEvalKeyString(key, openfhe.BINARY)

        def switched(a: Handle) -> Handle:
            result = switch(a, to_second)
            result.SetKeyTag(tag)
            return result

        return switched

    def _rotate_hoisted(self, a: Handle, *steps: int) -> list[Handle]:
        context, order = self._context, 2 * self.parameters.ring_dimension
        digits = context.EvalFastRotationPrecompute(a)
        return [context.EvalFastRotation(a, step, order, digits) if step else a.Clone() for step in steps]

    def _automorphism(self, tag: str) -> Callable[[Handle, int], Handle]:
        keys = openfhe.CryptoContext.GetEvalAutomorphismKeyMap(tag)
        order, apply = 2 * self.parameters.ring_dimension, self._context.EvalAutomorphism
        return lambda a, element: apply(a, element % order, keys)

    @property
    def _full_products(self) -> dict[str, Callable[..., Handle]]:
        """Full products: bfv has no lower modulus; the other schemes relinearize and switch in one call."""
        context = self._context
        return {"bfv": context.EvalMult, "bgv": context.ComposedEvalMult, "ckks": self._rescaled_product}

    def _rescaled_product(self, a: Handle, b: Handle) -> Handle:
        result = self._context.ComposedEvalMult(a, b)
        dropped = self.parameters.moduli[self._top - a.GetLevel()]
        result.SetScalingFactor(a.GetScalingFactor() * b.GetScalingFactor() / dropped)
        return result

    def _scaled_product(self, a: Handle, plaintext: Handle) -> Handle:
        """Multiply and correct the scale: EvalMult squares the ciphertext's, whatever the plaintext's is."""
        result = self._context.EvalMult(a, plaintext)
        result.SetScalingFactor(a.GetScalingFactor() * plaintext.GetScalingFactor())
        return result

    def _scaled_by_number(self, a: Handle, number: float) -> Handle:
        """Multiply and correct the scale: EvalMult squares the ciphertext's; the number has the default one."""
        result = self._context.EvalMult(a, float(number))
        result.SetScalingFactor(a.GetScalingFactor() * (self.parameters.scale or 1.0))
        return result

    def _encode_at_top(self, values: Vector) -> Handle:
        make = self._context.MakePackedPlaintext
        return (
            make(values) if self.parameters.scale is None else self._context.MakeCKKSPackedPlaintext(values)
        )

    def _rescale(self, a: Handle) -> Handle:
        result = self._context.Rescale(a)
        result.SetScalingFactor(a.GetScalingFactor() / self.parameters.moduli[self._top - a.GetLevel()])
        return result

    def _level_reduce(self, a: Handle) -> Handle:
        return self._context.LevelReduce(a, None, 1)


def _take_keys(context: Any, material: PublicMaterial, following: Iterator[bytes]) -> None:
    """Add the evaluation keys to OpenFHE's maps, unless they contain keys of this tag.

    They do when owner and evaluator share a process; OpenFHE refuses to read keys a second time. Those of bootstrapping
    are then left unread, and are not even written.
    """
    tag, binary = material.key_tag, openfhe.BINARY
    if material.relinearization_keys and tag not in openfhe.CryptoContext.GetAllEvalMultKeys():
        openfhe.DeserializeEvalMultKeyString(material.relinearization_keys, binary)
    is_ours = tag in openfhe.CryptoContext.GetAllEvalAutomorphismKeys()
    count = 0
    for part in islice(following, material.automorphism_keys):
        count += 1
        if not is_ours:
            keys = openfhe.DeserializeEvalKeyMapString(part, binary)
            openfhe.CryptoContext.InsertEvalAutomorphismKey(keys, tag)
    if count != material.automorphism_keys:
        raise ValueError(f"{count} keys of automorphisms came, and there are {material.automorphism_keys}")
    if material.keys.bootstrapping and not is_ours:
        bootstrapping.load_keys(context, material.parameters, tag, following)


class OpenFheAdapter(DeclaredAdapter):
    """OpenFHE from its wheel."""

    def info(self) -> LibraryInfo:
        declared = self._declared
        return LibraryInfo(declared.library, declared.variant, version(), has_hexl(), facts())

    def resolve(self, spec: ParameterSpec) -> Parameters:
        return parameter_sets.resolve(spec)

    def key_owner(self, parameters: Parameters, keys: KeyRequest) -> KeyOwner:
        requests.require_key_switching(parameters, keys)
        return OpenFheKeyOwner(parameters, keys)

    def restored_owner(self, parameters: Parameters, keys: KeyRequest, secret: bytes) -> KeyOwner:
        requests.require_key_switching(parameters, keys)
        return OpenFheKeyOwner(parameters, keys, secret)

    def evaluator(self, public_material: Iterable[bytes]) -> Evaluator:
        return OpenFheEvaluator(public_material, self._declared)


def version() -> str:
    """The version of OpenFHE itself: the wrapper counts its own releases in a fourth number."""
    return ".".join(str(openfhe.__version__).split(".")[:3])


@cache
def facts() -> dict[str, str]:
    """Wheel, wrapper, word size, interpreter, and build facts of the binaries of library and wrapper."""
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
    """Whether the library includes Intel HEXL: its names are linked in, or its library is next to OpenFHE's."""
    folder = Path(openfhe.__file__).parent
    is_beside = any(folder.rglob("libhexl*.so*"))
    return is_beside or any(b"intel4hexl" in path.read_bytes() for path in _libraries(folder))


def _libraries(folder: Path) -> list[Path]:
    """OpenFHE's own libraries, that of polynomials first; the wrapper if it contains them all."""
    libraries = [path for path in sorted(folder.rglob("libOPENFHE*.so*")) if path.is_file()]
    first = [path for path in libraries if "core" in path.name]
    return [*first, *(path for path in libraries if path not in first)] or sorted(folder.glob("openfhe*.so"))


def _wheel() -> str:
    try:
        return distribution("openfhe").version
    except PackageNotFoundError:
        return f"{provenance.UNKNOWN}it was not installed as a package"
