"""What ``cleartext`` declares: everything."""

from ciphermark_contract.declaration import OPERATIONS, Declaration
from ciphermark_contract.managed import MANAGED

_EXACT = tuple(name for name in OPERATIONS if name != "rescale")
_APPROXIMATE = tuple(name for name in OPERATIONS if name != "rotate_columns")

DECLARATIONS = (
    Declaration(
        library="cleartext",
        variant="cleartext",
        implementation="ciphermark_adapters.cleartext.adapter:CleartextAdapter",
        license="Apache-2.0",
        operations={"bfv": _EXACT, "bgv": _EXACT, "ckks": _APPROXIMATE},
        managed={
            "bfv": MANAGED,
            "bgv": MANAGED,
            "ckks": tuple(name for name in MANAGED if name != "rotate_columns"),
        },
        compressions=("none",),
        serializable=("parameters",),
        is_reference=True,
        reasons={
            "rescale": "bfv and bgv have no scale",
            "rotate_columns": "ckks slots form one row, not two",
            "noise_budget_bits": "there is no noise",
        },
    ),
)
