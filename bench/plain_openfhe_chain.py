"""A chain of multiplications in a script of OpenFHE only, the reference for peak memory.

``python plain_openfhe_chain.py SCHEME N T SCALE_BITS FIRST_BITS INNER_BITS DEPTH`` (T is 0 for ckks). It needs only the
openfhe wheel, so that its interpreter's peak is the library's.
"""

from __future__ import annotations

import sys

import openfhe


def main() -> None:
    """Create keys and two ciphertexts; ``depth`` times multiply, relinearize and switch to the next modulus."""
    scheme = sys.argv[1]
    ring_dimension, plain_modulus, scale_bits, first_bits, inner_bits, depth = map(int, sys.argv[2:8])
    is_ckks = scheme == "ckks"
    parameters = openfhe.CCParamsCKKSRNS() if is_ckks else openfhe.CCParamsBGVRNS()
    parameters.SetSecurityLevel(openfhe.HEStd_NotSet)
    parameters.SetRingDim(ring_dimension)
    parameters.SetMultiplicativeDepth(depth)
    parameters.SetKeySwitchTechnique(openfhe.HYBRID)
    parameters.SetNumLargeDigits(depth + 1)
    parameters.SetScalingTechnique(openfhe.FIXEDMANUAL)
    parameters.SetFirstModSize(first_bits)
    parameters.SetScalingModSize(scale_bits if is_ckks else inner_bits)
    if not is_ckks:
        parameters.SetPlaintextModulus(plain_modulus)
    context = openfhe.GenCryptoContext(parameters)
    for feature in (openfhe.PKE, openfhe.KEYSWITCH, openfhe.LEVELEDSHE):
        context.Enable(feature)
    pair = context.KeyGen()
    context.EvalMultKeyGen(pair.secretKey)
    plain = context.MakeCKKSPackedPlaintext([0.95] * 16) if is_ckks else context.MakePackedPlaintext([3] * 16)
    x, y = context.Encrypt(pair.publicKey, plain), context.Encrypt(pair.publicKey, plain)
    for i in range(depth):
        if i > 0:
            y = context.LevelReduce(y, None, 1) if is_ckks else context.ModReduce(y)
        product = context.Relinearize(context.EvalMultNoRelin(x, y))
        x = context.Rescale(product) if is_ckks else context.ModReduce(product)


if __name__ == "__main__":
    main()
