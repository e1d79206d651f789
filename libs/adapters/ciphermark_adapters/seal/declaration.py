"""What the SEAL adapter declares: the same for both builds, but for Intel HEXL."""

from ciphermark_contract.declaration import KEY_ITEMS, Declaration

_COMMON = (
    *("negate", "add", "sub", "add_plain", "sub_plain", "mul_plain", "mul", "square"),
    *("relinearize", "mod_switch", "rotate"),
)
_EXACT = (*_COMMON, "rotate_columns")
_APPROXIMATE = (*_COMMON, "rescale")


def _declaration(variant: str, module: str, *, hexl: bool, isa: tuple[str, ...]) -> Declaration:
    return Declaration(
        library="SEAL",
        variant=variant,
        implementation="ciphermark_adapters.seal.adapter:SealAdapter",
        license="MIT",
        operations={"bfv": _EXACT, "bgv": _EXACT, "ckks": _APPROXIMATE},
        compressions=("none", "zlib", "zstd"),
        serializable=KEY_ITEMS,
        requires=(module,),
        isa=isa,
        hexl=hexl,
        programs_have_threads=True,
        notes={
            "encrypt": "encodes, and encrypts with the public key",
            "decrypt": "decrypts, and decodes all slots",
            "destination": (
                "all operations but rescale and mod_switch first copy an operand to the destination: so do "
                "SEAL's own forms with a destination"
            ),
            "add_plain": "bgv transforms the plaintext to NTT form each time",
            "sub_plain": "bgv transforms the plaintext to NTT form each time",
            "mul_plain": (
                "bfv and bgv transform the plaintext to NTT form each time, bfv the ciphertext too and back; "
                "bfv takes a shortcut for a vector of equal values, whose plaintext is a constant"
            ),
            "mul": "without relinearization and rescaling",
            "square": "without relinearization and rescaling",
            "mod_switch": "ckks drops a prime without dividing by it",
            "keys": "sizes are those of expanded keys, as an evaluator holds them, not of seeded ones",
        },
    )


DECLARATIONS = (
    _declaration("seal", "_ciphermark_seal", hexl=False, isa=()),
    # HEXL's vector kernels need avx512dq; without it (or avx512ifma, which comes with it) HEXL runs scalar
    # code, and figures named HEXL would measure none of it. The code around the kernels is compiled for the CPU
    # of the host that builds it, or, portable, for all that have these five: so it does not even run without.
    _declaration(
        "seal-hexl",
        "_ciphermark_seal_hexl",
        hexl=True,
        isa=("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
    ),
)
