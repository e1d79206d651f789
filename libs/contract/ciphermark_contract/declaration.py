"""Declarations of adapters, readable without loading their libraries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ciphermark_contract.footprint import Footprint
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
from ciphermark_contract.noise_sources import NoiseSources
from ciphermark_contract.operations import (
    LOWERING,
    OPERATIONS,
    has_key_per_argument,
    key_kinds,
    require_keys,
    served,
)
from ciphermark_core.model import EXACT_SCHEMES, Parameters, ParameterSpec, Scheme

# Objects that can be serialized in addition to ciphertexts and plaintexts.
KEY_ITEMS: tuple[str, ...] = (
    "parameters",
    "public_key",
    "secret_key",
    "relinearization_keys",
    "rotation_keys",
)

# Objects that can be serialized with the seed of their uniform half in place of that half; the reader expands it. They
# are keys, and a fresh ciphertext encrypted with the secret key.
SEEDED_CIPHERTEXT = "ciphertext_seeded"
SEEDED_ITEMS: tuple[str, ...] = (
    SEEDED_CIPHERTEXT,
    "public_key_seeded",
    "relinearization_keys_seeded",
    "rotation_keys_seeded",
)


# Keys that an owner can generate separately and repeatedly: a secret key with its public key, the relinearization key,
# the key of one rotation.
GENERATED: tuple[str, ...] = ("key_pair", "relinearization_key", "rotation_key")


# Builds the function of an operation, given an evaluator of the loaded library.
Call: TypeAlias = Callable[[Any], Callable[..., Any]]


# Given the message with which a library fails, or ``None`` where its modules are missing: the fault of the user's
# installation, and the next step. ``None`` where there is no installation.
Installation: TypeAlias = Callable[[str | None], tuple[str, str] | None]


def _refuses_nothing(_: ParameterSpec) -> str | None:
    return None


def _tells_no_chain(_: ParameterSpec) -> tuple[int, ...] | None:
    return None


@dataclass(frozen=True, slots=True)
class Declaration:
    """An adapter's abilities and needs.

    Operations:

    - ``operations`` lists, per scheme, the rows of the operation table that the adapter offers. The contract suite
      fails if behavior differs in either direction.
    - ``composite`` describes the calls of those operations that take several calls of the library.
    - ``calls`` are operations that are one call on the evaluator, and need no other code.
    - ``notes`` explains, per operation, what its time includes beyond the bare primitive.
    - ``reasons`` gives the reason for a missing operation that other schemes of the library may have. It also gives the
      limits of ``noise_budget_bits`` and ``dump_plaintext``.
    - ``has_threads``: the library uses threads inside its operations, otherwise in those of ``threaded`` alone.
      ``programs_have_threads``: independent operations of a program execute on several threads.
    - ``manages_levels`` are the schemes whose levels the library chooses. A program that fixes the level of each
      operation cannot drive them.
    - ``slot_generator`` orders the slots: see :class:`ciphermark_contract.operations.Ring`.

    Installation:

    - ``implementation`` is ``"module:Class"``.
    - ``requires`` are modules that must be importable, ``isa`` CPU flags that the host must have. ``remedy`` is the
      command that installs missing parts.
    - ``environment`` is the name or path of the virtual environment whose interpreter the library needs, where ours
      cannot load it: see :mod:`ciphermark_adapters.interpreters`.
    - ``installation`` is for a library that users install: see :data:`Installation`.
    - ``built_from`` are the options of ``ciphermark build add`` that a user's build takes.

    Objects:

    - ``compressions`` lists the modes of serialization.
    - ``serializable`` are the :data:`KEY_ITEMS` that it serializes expanded, ``seeded`` the :data:`SEEDED_ITEMS`.
    - ``generates`` are the :data:`GENERATED` keys that it generates separately.

    Parameters:

    - ``chooses_primes``: sizes and number of primes may differ from the requested ``modulus_bits``; the resolved
      parameters state them.
    - ``lacks_recommended`` is the reason why recommended tuning is not offered. ``None``: parameters are resolved as
      the library's documentation would set them, possibly as in *matched*. The note ``tuning`` explains how.
    - ``lacks_matched_bootstrapping`` is the reason why requests with bootstrapping have recommended tuning only, then
      whatever ``lacks_recommended`` states. ``None``: bootstrapping does not change the tunings.
    - ``refusal`` returns why a request's parameters cannot be resolved, as far as known without the library.
    - ``default_chain`` returns the sizes of the library's primes in bfv and bgv for a request without any, the special
      prime last.
    - ``budget_schemes`` are the schemes whose noise budget the library reports. From these three, plans predict
      ``unsupported`` cases.
    - ``footprint`` is the library's memory, from which plans predict that of parties. ``None``: it is unknown.
    - ``noise`` are the library's sources of noise, from which precision is predicted. ``None``: it is not.

    Presentation:

    - ``adds`` describes, by metric, the decryption noise (IND-CPA-D) that the library or its adapter adds at the
      metric's cost. It is shown with the result.
    - ``look`` is the variant's unique color and shape in charts: a CSS color readable on white and on black, and a
      Vega shape. A variant without one takes a free look.
    - ``is_reference`` marks pseudo-libraries, which are never ranked.
    - ``wraps`` is the variant whose library this one calls from another language. The overhead of its layer is reported
      relative to that variant.
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
    installation: Installation | None = None
    isa: tuple[str, ...] = ()
    hexl: bool = False
    has_threads: bool = False
    threaded: tuple[str, ...] = ()
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
    lacks_matched_bootstrapping: str | None = None
    composite: Mapping[str, str] = field(default_factory=dict)
    calls: Mapping[str, Call] = field(default_factory=dict)
    refusal: Callable[[ParameterSpec], str | None] = _refuses_nothing
    default_chain: Callable[[ParameterSpec], tuple[int, ...] | None] = _tells_no_chain
    budget_schemes: tuple[Scheme, ...] = EXACT_SCHEMES
    footprint: Footprint | None = None
    noise: NoiseSources | None = None
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
        """The function of each of these operations: from ``calls``, else from ``known``, those of the evaluator."""
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
        """The note on what an operation's time includes beyond the bare primitive, and on its calls; else ``None``."""
        notes = [f"composite: {self.composite[operation]}"] if operation in self.composite else []
        return "; ".join([*notes, self.notes[operation]] if operation in self.notes else notes) or None

    def is_composite(self, operation: str) -> bool:
        """Whether an operation as cases write it, such as ``rotate(64)``, takes several calls of the library."""
        return operation.partition("(")[0] in self.composite

    def drives_levels(self, scheme: Scheme) -> bool:
        """Whether the applied operations alone determine levels."""
        return scheme in self.operations and scheme not in self.manages_levels

    def key_kinds(self, scheme: Scheme) -> KeyRequest:
        """The kinds of evaluation keys that the variant has an operation for."""
        return key_kinds(self.operations[scheme])

    def has(self, operation: str, scheme: Scheme) -> bool:
        """Whether circuits may use an operation: the managed one if it exists, else the primitive."""
        is_managed = OPERATIONS[operation].is_managed
        return operation in (self.managed if is_managed else self.operations)[scheme]

    def reason_against_lowering(self, scheme: Scheme) -> str | None:
        """Return, as a sentence for the user, why ciphertexts stay at the top level; ``None`` where they do not."""
        return None if LOWERING in self.operations[scheme] else self.reason_against(LOWERING, scheme)

    def reason_against_tuning(self, spec: ParameterSpec) -> str | None:
        """Return, as a sentence for the user, why a request's tuning is not offered; ``None`` where it is."""
        tuning = spec.tuning
        if spec.bootstrapping is not None and self.lacks_matched_bootstrapping is not None:
            return self.lacks_matched_bootstrapping if tuning == "matched" else None
        if tuning == "matched" or self.lacks_recommended is None:
            return None
        return f"{self.library} has no setting for the {tuning} tuning here: {self.lacks_recommended}"

    def reason_against_budget(self, scheme: Scheme) -> str | None:
        """Return, as a sentence for the user, why there is no noise budget; ``None`` where there is.

        In ckks the noise shows in the values.
        """
        is_told = scheme in self.budget_schemes or scheme not in EXACT_SCHEMES
        return None if is_told else self.reason_without_budget(scheme)

    def reason_without_budget(self, scheme: Scheme) -> str:
        """Return, as a sentence for the user, why a library that declares a noise budget reports none."""
        return f"{self.library} reports no noise budget in {scheme}"

    def reason_against_object(self, item: str) -> str:
        """Return, as a sentence for the user, why an object is not serialized."""
        return self.reasons.get(item, f"{self.library}'s adapter does not serialize {item.replace('_', ' ')}")

    def reason_against_generating(self, item: str) -> str:
        """Return, as a sentence for the user, why a key is not generated separately."""
        return self.reasons.get(
            item, f"{self.library}'s adapter does not generate {item.replace('_', ' ')} separately"
        )

    def reason_against(self, operation: str, scheme: Scheme) -> str:
        """Return, as a sentence for the user, why ``operation`` is missing in a scheme."""
        row = OPERATIONS.get(operation)
        if row is not None and scheme not in row.schemes:
            return row.not_in
        if operation in self.reasons or row is None or not row.absence:
            return self.reasons.get(operation, f"{self.library} offers no {operation} here")
        return f"{self.library} {row.absence}"


class DeclaredAdapter(Adapter):
    """An adapter, created once per worker with its declaration."""

    def __init__(self, declared: Declaration) -> None:
        self._declared = declared


class DeclaredEvaluator(Evaluator):
    """Base class of adapters' evaluators; a subclass calls :meth:`offer` in its constructor."""

    def __init__(self, parameters: Parameters, keys: KeyRequest, declared: Declaration) -> None:
        self.parameters = parameters
        self._keys = keys
        self._declared = declared
        self._scheme = parameters.spec.scheme
        self._names = served(declared.operations[self._scheme], keys)
        self.functions: Mapping[str, Callable[..., Handle]] = {}

    def offer(self, known: Mapping[str, Callable[..., Handle]]) -> None:
        """Set ``functions``, the library's bare functions, from ``known`` and the declaration's ``calls``."""
        self.functions = self._declared.functions(self, self._names, known)
        self._operations = {name: self._checked(name) for name in self.functions}

    @property
    def operations(self) -> Mapping[str, Callable[..., Handle]]:
        """The operations whose keys exist. They check for the keys that their arguments need."""
        return self._operations

    def reason_against(self, operation: str) -> str:
        """Return why an operation is missing; a declared one is missing only without its key."""
        if operation in self._declared.operations[self._scheme]:
            return f"{operation} needs keys; none were requested"
        return self._declared.reason_against(operation, self._scheme)

    def bind(self, operation: str, rows: Sequence[Row]) -> Bound:
        self.function(operation)
        for row in rows:
            require_keys(operation, row, self._keys)
        return self.bound(operation, rows)

    def bound(self, operation: str, rows: Sequence[Row]) -> Bound:
        """Return the loop over rows, whose keys exist."""
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
        """Raise ``Unsupported``; overridden for libraries that serialize plaintexts."""
        raise Unsupported(self._declared.reason_against("dump_plaintext", self._scheme))
