"""Declaration of ``cleartext``: every operation with a meaning."""

from ciphermark_contract.declaration import Declaration
from ciphermark_contract.operations import of_scheme
from ciphermark_core.model import SCHEMES

DECLARATIONS = (
    Declaration(
        library="cleartext",
        variant="cleartext",
        implementation="ciphermark_adapters.cleartext.adapter:CleartextAdapter",
        license="Apache-2.0",
        operations={scheme: of_scheme(scheme) for scheme in SCHEMES},
        compressions=("none",),
        lacks_recommended=None,
        budget_schemes=(),
        serializable=("parameters",),
        is_reference=True,
        reasons={"noise_budget_bits": "there is no noise"},
    ),
)
