"""The wrapped libraries' own calls, as a program without Ciphermark makes them; each runs in its own interpreter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ciphermark_contract.interfaces import Vector
from ciphermark_core.model import Parameters

Call: TypeAlias = tuple[Callable[..., Any], tuple[Any, ...]]  # a function and its operands
Calls: TypeAlias = Callable[[Vector, Vector], Mapping[str, Call]]  # two vectors → calls by operation

STEP = 1  # of the rotation


def tenseal_calls(parameters: Parameters) -> Calls:
    """TenSEAL's own calls on two vectors."""
    import tenseal as ts

    from ciphermark_adapters.tenseal.parameters import requested_chain

    is_ckks = parameters.scale is not None
    scheme = ts.SCHEME_TYPE.CKKS if is_ckks else ts.SCHEME_TYPE.BFV
    chain = requested_chain(parameters.spec)
    context = ts.context(scheme, parameters.ring_dimension, parameters.plain_modulus, chain, n_threads=1)
    context.auto_relin = context.auto_rescale = context.auto_mod_switch = False
    if is_ckks:
        context.global_scale = parameters.scale
    encrypt = ts.ckks_vector if is_ckks else ts.bfv_vector

    def calls(x: Vector, y: Vector) -> Mapping[str, Call]:
        a, b = encrypt(context, x), encrypt(context, y)
        plain = ts.plain_tensor(y, dtype="float" if is_ckks else "int")
        return {
            "encrypt": (encrypt, (context, x)),
            "decrypt": (a.decrypt, ()),
            "add": (a.add, (b,)),
            "add_plain": (a.add, (plain,)),
            "mul_plain": (a.mul, (plain,)),
            "mul": (a.mul, (b,)),
        }

    return calls


def pyfhel_calls(parameters: Parameters) -> Calls:
    """Pyfhel's own calls on two vectors; in-place operations are applied to a copy."""
    from ciphermark_adapters.pyfhel.parameters import context_of

    he = context_of(parameters)
    he.keyGen()
    he.relinKeyGen()
    he.rotateKeyGen([STEP])
    is_ckks = parameters.scale is not None
    encrypt, decrypt, encode = (
        (he.encryptFrac, he.decryptFrac, he.encodeFrac)
        if is_ckks
        else (he.encryptInt, he.decryptInt, he.encodeInt)
    )

    def relinearize(a: Any) -> None:
        he.relinearize(a.copy())

    def calls(x: Vector, y: Vector) -> Mapping[str, Call]:
        a, b, plain = encrypt(x), encrypt(y), encode(y)
        return {
            "encrypt": (encrypt, (x,)),
            "decrypt": (decrypt, (a,)),
            "add": (he.add, (a, b, True)),
            "add_plain": (he.add_plain, (a, plain, True)),
            "mul_plain": (he.multiply_plain, (a, plain, True)),
            "mul": (he.multiply, (a, b, True)),
            "relinearize": (relinearize, (he.multiply(a, b, True),)),
            "rotate": (he.rotate, (a, STEP, True)),
        }

    return calls


def openfhe_calls(parameters: Parameters) -> Calls:
    """OpenFHE's own calls on two vectors."""
    from ciphermark_adapters.openfhe.parameters import context_of

    context = context_of(parameters)
    keys = context.KeyGen()
    context.EvalMultKeyGen(keys.secretKey)
    context.EvalAtIndexKeyGen(keys.secretKey, [STEP])
    is_ckks = parameters.scale is not None
    encode = context.MakeCKKSPackedPlaintext if is_ckks else context.MakePackedPlaintext

    def encrypt(values: Vector) -> Any:
        return context.Encrypt(keys.publicKey, encode(values))

    def decrypt(ciphertext: Any) -> Any:
        plaintext = context.Decrypt(keys.secretKey, ciphertext)
        plaintext.SetLength(parameters.slots)
        return plaintext.GetRealPackedValueArray() if is_ckks else plaintext.GetPackedValueArray()

    def calls(x: Vector, y: Vector) -> Mapping[str, Call]:
        a, b, plain = encrypt(x), encrypt(y), encode(y)
        return {
            "encrypt": (encrypt, (x,)),
            "decrypt": (decrypt, (a,)),
            "add": (context.EvalAdd, (a, b)),
            "add_plain": (context.EvalAdd, (a, plain)),
            "mul_plain": (context.EvalMult, (a, plain)),
            "mul": (context.EvalMultNoRelin, (a, b)),
            "relinearize": (context.Relinearize, (context.EvalMultNoRelin(a, b),)),
            "rotate": (context.EvalRotate, (a, STEP)),
        }

    return calls


CALLS = {"tenseal": tenseal_calls, "pyfhel": pyfhel_calls, "openfhe": openfhe_calls}
