"""What an adapter declares about itself, readable without loading its library."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ciphermark_contract.interfaces import (
    Adapter,
    Bound,
    Evaluator,
    Handle,
    KeyRequest,
    PythonBound,
    Row,
    Unsupported,
)
from ciphermark_contract.operations import OPERATIONS, has_key_per_argument, key_kinds, require_keys, served
from ciphermark_core.key_switching import Tuning
from ciphermark_core.model import EXACT_SCHEMES, Parameters, ParameterSpec, Scheme

# What can be serialized beside ciphertexts and plaintexts.
KEY_ITEMS: tuple[str, ...] = (
    "parameters",
    "public_key",
    "secret_key",
    "relinearization_keys",
    "rotation_keys",
)

# What can be serialized with the seed of its uniform half in the place of that half, to be expanded by who reads it: a
# fresh ciphertext, encrypted with the secret key, and keys.
SEEDED_CIPHERTEXT = "ciphertext_seeded"
SEEDED_ITEMS: tuple[str, ...] = (
    SEEDED_CIPHERTEXT,
    "public_key_seeded",
    "relinearization_keys_seeded",
    "rotation_keys_seeded",
)


# What an owner can be asked to generate by itself, over and over: a secret key with its public key, the key that
# relinearizes, the key of one rotation.
GENERATED: tuple[str, ...] = ("key_pair", "relinearization_key", "rotation_key")


# Makes the function of an operation, given the evaluator whose library is loaded.
Call: TypeAlias = Callable[[Any], Callable[..., Any]]


def _refuses_nothing(_: ParameterSpec) -> str | None:
    return None


def _tells_no_chain(_: ParameterSpec) -> tuple[int, ...] | None:
    return None


@dataclass(frozen=True, slots=True)
class Declaration:
    """An adapter's abilities and needs.

    ``operations`` lists, per scheme, the rows of the operation table that the library has one call for; the contract
    suite fails if behaviour differs in either direction. ``composite`` tells of
    those that the adapter makes of several calls what they are made of.
    ``calls`` are operations that are one call of what the evaluator has, and need no code of their own elsewhere.
    ``implementation`` is ``"module:Class"``. ``requires`` are modules that must be importable,
    ``isa`` CPU flags that the host must have. ``remedy`` is the command that installs what is missing.
    ``compressions`` lists the modes that serialization offers; ``serializable`` the
    :data:`KEY_ITEMS` it can serialize, expanded, ``seeded`` the :data:`SEEDED_ITEMS`, ``generates`` those of
    :data:`GENERATED` that it makes one by one. ``adds`` tells what the library, or the adapter for it, adds as
    decryption noise (IND-CPA-D) that a metric pays for, by the name of the metric: it stands beside the result.
    ``notes`` explains, per operation, what its time includes beyond the bare primitive; ``reasons`` why an operation is
    missing where others of the library's schemes may have it, or what the contract's ``noise_budget_bits`` and
    ``dump_plaintext`` cannot tell. ``has_threads`` says that the library has threads inside its operations,
    ``programs_have_threads`` that independent operations of a program execute on several. ``look`` is the variant's
    colour and shape in charts, which no other has (a CSS colour that can be read on white and on black, a shape of
    Vega); a variant without one takes what is left. ``built_from`` are the options of ``ciphermark build add`` that a
    build of the user's own takes. ``is_reference`` marks pseudo-libraries, which are never ranked. ``environment``
    names the virtual environment whose interpreter the library needs, where ours cannot load it, or is the path of one:
    see :mod:`ciphermark_adapters.interpreters`. ``chooses_primes`` says that the library takes the request for a wish:
    sizes and number of its primes may differ from ``modulus_bits``, and the resolved parameters say what they are.
    ``manages_levels`` are the schemes whose levels the library moves by itself, so that a program that says at which
    level each operation is cannot drive it. ``slot_generator`` orders the slots: see
    :class:`ciphermark_contract.operations.Ring`. ``lacks_recommended`` says why recommended tuning is not offered:
    ``None`` where parameters are resolved in it as the library's documentation would set them, which may be as in
    *matched*; the note ``tuning`` tells how. ``wraps`` is the variant whose library this one calls from another
    language: what its own layer costs is told beside that. ``refusal`` says why no parameters can be resolved for a
    request, as far as that is known without the library, and ``default_chain`` the sizes of the primes that the library
    takes in bfv and bgv where a request names none, the special prime last; ``budget_schemes`` are those in which it
    tells the noise budget. Plans foretell by the three what a run would find ``unsupported``.
    """

    library: str
    variant: str
    implementation: str
    license: str
    operations: Mapping[Scheme, tuple[str, ...]]
    compressions: tuple[str, ...]
    serializable: tuple[str, ...]
    seeded: tuple[str, ...] = ()
    generates: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    remedy: str = "python3 setup/install.py"
    isa: tuple[str, ...] = ()
    hexl: bool = False
    has_threads: bool = False
    programs_have_threads: bool = False
    is_reference: bool = False
    look: tuple[str, str] | None = None
    built_from: tuple[str, ...] = ()
    environment: str | None = None
    wraps: str | None = None
    chooses_primes: bool = False
    manages_levels: tuple[Scheme, ...] = ()
    slot_generator: int = 3
    lacks_recommended: str | None = "its adapter has one setting, which is made to be like that of others"
    composite: Mapping[str, str] = field(default_factory=dict)
    calls: Mapping[str, Call] = field(default_factory=dict)
    refusal: Callable[[ParameterSpec], str | None] = _refuses_nothing
    default_chain: Callable[[ParameterSpec], tuple[int, ...] | None] = _tells_no_chain
    budget_schemes: tuple[Scheme, ...] = EXACT_SCHEMES
    adds: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)

    @property
    def schemes(self) -> tuple[Scheme, ...]:
        """Schemes the adapter offers."""
        return tuple(self.operations)

    def functions(
        self, evaluator: Any, names: Iterable[str], known: Mapping[str, Callable[..., Any]]
    ) -> dict[str, Callable[..., Any]]:
        """The function of each of these operations: of ``calls``, or else of those that the evaluator knows."""
        return {name: self.calls[name](evaluator) if name in self.calls else known[name] for name in names}

    @property
    def writes_seeded(self) -> bool:
        """Whether fresh ciphertexts can be written with a seed: see :meth:`KeyOwner.dump_seeded`."""
        return SEEDED_CIPHERTEXT in self.seeded

    @property
    def managed(self) -> Mapping[Scheme, tuple[str, ...]]:
        """Operations of the managed evaluator, per scheme."""
        return {
            scheme: tuple(name for name in names if OPERATIONS[name].is_managed)
            for scheme, names in self.operations.items()
        }

    def note_on(self, operation: str) -> str | None:
        """What the time of an operation includes beyond the bare primitive, and what it is composed of."""
        notes = [f"composite: {self.composite[operation]}"] if operation in self.composite else []
        return "; ".join([*notes, self.notes[operation]] if operation in self.notes else notes) or None

    def is_composite(self, operation: str) -> bool:
        """Whether an operation, as a case has it (with arguments, or of another kind), is made of several calls."""
        return operation.partition("(")[0] in self.composite

    def drives_levels(self, scheme: Scheme) -> bool:
        """Whether levels are where the operations that were applied put them, and nowhere else."""
        return scheme in self.operations and scheme not in self.manages_levels

    def key_kinds(self, scheme: Scheme) -> KeyRequest:
        """The kinds of evaluation keys that the variant has an operation for."""
        return key_kinds(self.operations[scheme])

    def has(self, operation: str, scheme: Scheme) -> bool:
        """Whether circuits may use an operation: the managed one where there is such, else the primitive."""
        is_managed = OPERATIONS[operation].is_managed
        return operation in (self.managed if is_managed else self.operations)[scheme]

    def reason_against_tuning(self, tuning: Tuning) -> str | None:
        """Why parameters cannot be resolved in a tuning, in a sentence for the user; ``None`` where they can."""
        if tuning == "matched" or self.lacks_recommended is None:
            return None
        return f"{self.library} has no setting for the {tuning} tuning here: {self.lacks_recommended}"

    def reason_against_budget(self, scheme: Scheme) -> str | None:
        """Why nothing is known of a ciphertext's noise, in a sentence for the user. In ckks it shows in the values."""
        is_told = scheme in self.budget_schemes or scheme not in EXACT_SCHEMES
        return None if is_told else self.reason_without_budget(scheme)

    def reason_without_budget(self, scheme: Scheme) -> str:
        """What to say where a library turns out to tell nothing of the noise."""
        return f"{self.library} reports no noise budget in {scheme}"

    def reason_against_object(self, item: str) -> str:
        """Why an object is not serialized, in a sentence for the user."""
        return self.reasons.get(item, f"{self.library}'s adapter does not serialize {item.replace('_', ' ')}")

    def reason_against_generating(self, item: str) -> str:
        """Why a key is not generated by itself, in a sentence for the user."""
        return self.reasons.get(
            item, f"{self.library}'s adapter does not generate {item.replace('_', ' ')} separately"
        )

    def reason_against(self, operation: str, scheme: Scheme) -> str:
        """Why ``operation`` is missing in a scheme, in a sentence for the user."""
        row = OPERATIONS.get(operation)
        if row is not None and scheme not in row.schemes:
            return row.not_in
        if operation in self.reasons or row is None or not row.absence:
            return self.reasons.get(operation, f"{self.library} offers no {operation} here")
        return f"{self.library} {row.absence}"


class DeclaredAdapter(Adapter):
    """An adapter, made once per worker with the declaration it was found by."""

    def __init__(self, declared: Declaration) -> None:
        self._declared = declared


class DeclaredEvaluator(Evaluator):
    """What adapters' evaluators have in common; a subclass calls :meth:`offer` when it is made."""

    def __init__(self, parameters: Parameters, keys: KeyRequest, declared: Declaration) -> None:
        self.parameters = parameters
        self._keys = keys
        self._declared = declared
        self._scheme = parameters.spec.scheme
        self._names = served(declared.operations[self._scheme], keys)
        self.functions: Mapping[str, Callable[..., Handle]] = {}

    def offer(self, known: Mapping[str, Callable[..., Handle]]) -> None:
        """Let these functions, and the declaration's ``calls``, apply the operations: ``functions``, as bare as the
        library has them.
        """
        self.functions = self._declared.functions(self, self._names, known)
        self._operations = {name: self._checked(name) for name in self.functions}

    @property
    def operations(self) -> Mapping[str, Callable[..., Handle]]:
        """Those whose keys were made; they look for the keys that their arguments need."""
        return self._operations

    def reason_against(self, operation: str) -> str:
        """A declared operation is missing only for want of its key."""
        if operation in self._declared.operations[self._scheme]:
            return f"{operation} needs keys; none were requested"
        return self._declared.reason_against(operation, self._scheme)

    def bind(self, operation: str, rows: Sequence[Row]) -> Bound:
        self.function(operation)
        for row in rows:
            require_keys(operation, row, self._keys)
        return self.bound(operation, rows)

    def bound(self, operation: str, rows: Sequence[Row]) -> Bound:
        """The loop over rows that have their keys."""
        return PythonBound(self.functions[operation], rows)

    def _checked(self, operation: str) -> Callable[..., Handle]:
        function = self.functions[operation]
        if not has_key_per_argument(operation):
            return function

        def checked(*operands: Any) -> Handle:
            require_keys(operation, operands, self._keys)
            return function(*operands)

        return checked

    def dump_plaintext(self, plaintext: Handle, compression: str) -> bytes:
        """For a library that cannot."""
        raise Unsupported(self._declared.reason_against("dump_plaintext", self._scheme))
