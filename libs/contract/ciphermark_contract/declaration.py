"""What an adapter declares about itself, readable without loading its library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ciphermark_core.model import Scheme

# The operations of the contract. Operands, in order:
#   negate square relinearize rescale mod_switch rotate_columns   one ciphertext
#   add sub mul                                                  two ciphertexts
#   add_plain sub_plain mul_plain                                ciphertext, plaintext
#   rotate                                                       ciphertext, steps (> 0: to the left)
OPERATIONS: tuple[str, ...] = (
    "negate",
    "add",
    "sub",
    "add_plain",
    "sub_plain",
    "mul_plain",
    "mul",
    "square",
    "relinearize",
    "rescale",
    "mod_switch",
    "rotate",
    "rotate_columns",
)

# What can be serialized beside ciphertexts and plaintexts.
KEY_ITEMS: tuple[str, ...] = (
    "parameters",
    "public_key",
    "secret_key",
    "relinearization_keys",
    "rotation_keys",
)


@dataclass(frozen=True, slots=True)
class Declaration:
    """An adapter's abilities and needs.

    ``operations`` and ``managed`` list, per scheme, the primitive operations and those of the managed
    evaluator; the contract suite fails if behaviour differs in either direction.
    ``implementation`` is ``"module:Class"``. ``requires`` are modules that must be importable,
    ``isa`` CPU flags that the host must have. ``remedy`` is the command that installs what is missing.
    ``compressions`` lists the modes that serialization offers; ``serializable`` the
    :data:`KEY_ITEMS` it can serialize. ``notes`` explains, per operation, what its time includes
    beyond the bare primitive; ``reasons`` why an operation is missing in some scheme, or what the contract's
    ``noise_budget_bits`` and ``dump_plaintext`` cannot tell.
    ``has_threads`` says that the library has threads inside its operations, ``programs_have_threads`` that independent
    operations of a program execute on several.
    ``is_reference`` marks pseudo-libraries, which are never ranked. ``environment`` names the virtual environment
    whose interpreter the library needs, where ours cannot load it: see :mod:`ciphermark_adapters.interpreters`.
    ``chooses_primes`` says that the library takes the request for a wish: sizes and number of its primes may differ
    from ``modulus_bits``, and the resolved parameters say what they are.
    """

    library: str
    variant: str
    implementation: str
    license: str
    operations: Mapping[Scheme, tuple[str, ...]]
    managed: Mapping[Scheme, tuple[str, ...]]
    compressions: tuple[str, ...]
    serializable: tuple[str, ...]
    requires: tuple[str, ...] = ()
    remedy: str = "python3 setup/install.py"
    isa: tuple[str, ...] = ()
    hexl: bool = False
    has_threads: bool = False
    programs_have_threads: bool = False
    is_reference: bool = False
    environment: str | None = None
    chooses_primes: bool = False
    notes: Mapping[str, str] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)

    @property
    def schemes(self) -> tuple[Scheme, ...]:
        """Schemes the adapter offers."""
        return tuple(self.operations)

    def reason_against(self, operation: str) -> str:
        """Why ``operation`` is missing, in a sentence for the user."""
        return self.reasons.get(operation, f"{self.library} offers no {operation} here")
