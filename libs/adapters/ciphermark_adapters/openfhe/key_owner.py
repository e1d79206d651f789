"""The client side: OpenFHE's keys, encryption and decryption."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter_ns
from typing import Any

import msgspec
import numpy as np
import openfhe

from ciphermark_adapters.openfhe import bootstrapping, contexts
from ciphermark_adapters.openfhe import parameters as parameter_sets
from ciphermark_adapters.openfhe.ciphertexts import (
    OpenfheBound,
    PublicMaterial,
    checked,
    dump,
    load,
    nominal_scale,
)
from ciphermark_contract.interfaces import Bound, Handle, KeyOwner, KeyRequest, Row, Unsupported, Vector
from ciphermark_core.model import Parameters

_REFUSED_RESULT = "approximation error is too high"


class OpenFheKeyOwner(KeyOwner):
    """Generates the keys when it is made.

    OpenFHE keeps evaluation keys to the end of the process, in maps by the tag of their secret key.
    """

    def __init__(self, parameters: Parameters, keys: KeyRequest) -> None:
        self.parameters = parameters
        self._keys = keys
        context = self._context = parameter_sets.context_of(parameters)
        pair = context.KeyGen()
        self._public_key, self._secret_key = pair.publicKey, pair.secretKey
        self._tag: str = self._public_key.GetKeyTag()
        if keys.relinearization:
            context.EvalMultKeyGen(self._secret_key)
        steps = [*keys.steps]
        if steps:
            context.EvalAtIndexKeyGen(self._secret_key, steps)
        elements = [element % (2 * parameters.ring_dimension) for element in keys.elements]
        if elements:
            context.EvalAutomorphismKeyGen(self._secret_key, elements)
        if keys.bootstrapping:
            bootstrapping.set_up(context, parameters)
            context.EvalBootstrapKeyGen(self._secret_key, parameters.slots)
        second = context.KeyGen().secretKey if keys.switching else self._secret_key
        self._secret_keys = {key.GetKeyTag(): key for key in (self._secret_key, second)}
        self._second_tag: str = second.GetKeyTag()
        self._switching_key = context.KeySwitchGen(self._secret_key, second) if keys.switching else None
        self._has_rotation_keys = bool(steps or elements or keys.bootstrapping)
        is_real = parameters.scale is not None
        self._encode: Callable[..., Any] = (
            context.MakeCKKSPackedPlaintext if is_real else context.MakePackedPlaintext
        )
        self._decrypt = self._decrypt_reals if is_real else self._decrypt_integers

    def encrypt(self, values: Vector) -> Handle:
        return self._encrypt(checked(values, self.parameters))

    def decrypt(self, ciphertext: Handle) -> Vector:
        """See the contract. Slots are infinite where OpenFHE refuses to decode for want of precision."""
        return self._normalised(self._decrypt(ciphertext))

    def bind_encrypt(self, rows: Sequence[Row]) -> Bound:
        """See the contract: OpenFHE's own encoding and encryption."""
        return OpenfheBound(self._encrypt, [(checked(values, self.parameters),) for (values,) in rows])

    def bind_decrypt(self, rows: Sequence[Row]) -> Bound:
        """See the contract: the reduction to [0, t) stays off the clock."""
        return OpenfheBound(self._decrypt, rows, self._normalised)

    def noise_budget_bits(self, ciphertext: Handle) -> int | None:
        """See the contract; OpenFHE tells none."""
        return None

    def public_material(self) -> Iterator[bytes]:
        made = self._dumps()
        dumped = {item: made[item]() for item in ("relinearization_keys", "rotation_keys") if item in made}
        parameters = self.parameters
        if "relinearization_keys" in dumped:
            contexts.require_special(dumped["relinearization_keys"], parameters)
        material = PublicMaterial(
            parameters=parameters,
            key_tag=self._tag,
            context=made["parameters"](),
            relinearization_keys=dumped.get("relinearization_keys"),
            rotation_keys=dumped.get("rotation_keys"),
            switching_key=self._switching_key and openfhe.Serialize(self._switching_key, openfhe.BINARY),
            second_key_tag=self._second_tag,
            keys=self._keys,
        )
        yield msgspec.msgpack.encode(material)

    def dump(self, ciphertext: Handle, compression: str) -> bytes:
        return dump(ciphertext, compression)

    def load(self, data: bytes) -> Handle:
        return load(data)

    def dump_key(self, item: str, compression: str) -> bytes:
        if compression != "none":
            raise Unsupported(f"OpenFHE offers no compression {compression}, only none")
        made = self._dumps()
        if item not in made:
            raise Unsupported(f"no {item.replace('_', ' ')} were made")
        return made[item]()

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

    def _encrypt(self, values: Vector) -> Handle:
        return self._context.Encrypt(self._public_key, self._encode(values))

    def _key_of(self, ciphertext: Handle) -> Any:
        """The key that a ciphertext is told to be under; ours for those of strangers, which come out as noise."""
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

    def _normalised(self, values: Vector) -> Vector:
        modulus = self.parameters.plain_modulus
        return values if modulus is None else values % modulus


class EvaluationKeyGeneration(Bound):
    """OpenFHE puts evaluation keys into maps by the tag of their secret key, and makes none for a tag that is there:
    each execution takes a secret key of its own, made off the clock. Afterwards the maps are what they were.
    """

    prepares_in_run = True

    def __init__(self, context: Any, generate: Callable[[Any], object]) -> None:
        self._context = context
        self._generate = generate

    def run(self, loops: int) -> int:
        """See the contract: the secret keys are made before the clock starts, and the maps restored after it ended."""
        secrets = [self._context.KeyGen().secretKey for _ in range(loops)]
        kept = _kept()
        start = perf_counter_ns()
        for secret in secrets:
            self._generate(secret)
        elapsed = perf_counter_ns() - start
        _restore(kept)
        return elapsed

    def results(self) -> list[Handle]:
        """None: the keys are forgotten."""
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
