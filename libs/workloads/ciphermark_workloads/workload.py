"""The contract of a workload: a circuit in stages, its inputs, its requirements, and the judgement of its output.

Two parties execute it. The client makes the input, encrypts the vectors of a stage, and decrypts and judges the
results. The server holds public material alone and computes. The transport of ciphertexts is not part of a workload. A
family is a folder of workloads that are judged by the same rules.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, TypeAlias, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from ciphermark_contract import checking
from ciphermark_contract.interfaces import Evaluator, Handle, KeyOwner, KeyRequest, Vector
from ciphermark_contract.program import Program
from ciphermark_core.descriptor import Value
from ciphermark_core.errors import Unsupported, UserError
from ciphermark_core.model import EXACT_SCHEMES, Accuracy, Parameters, ParameterSpec, Scheme
from ciphermark_workloads.options import NoOptions, read

Input = TypeVar("Input")
Output = TypeVar("Output")
Arrays: TypeAlias = Mapping[str, npt.NDArray[np.float64]]
Handles: TypeAlias = Sequence[Handle]
Returns = Literal["nothing", "state", "result"]
OWN = "own"  # the family of workloads outside of all family folders


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage. The server ``returns`` the ``state``, which it keeps for the next stage, or the ``result``, which the
    client decrypts and judges. Only the last stage returns the result. In a stage that returns ``nothing`` the client
    computes alone: see :meth:`Workload.public`.
    """

    name: str
    returns: Returns = "result"

    @property
    def has_server(self) -> bool:
        """Whether the server takes part in it."""
        return self.returns != "nothing"


@dataclass(frozen=True, slots=True)
class Truth(Generic[Input, Output]):
    """The data for judging an output: the input, and the result of the same algorithm in the clear, in floating point
    (``reference``) and with the circuit's own exactness (``expected``).
    """

    input: Input
    reference: Output
    expected: Output
    parameters: Parameters


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether an output is correct. ``complaint`` gives the fault of an incorrect one, ``None`` for a correct one.

    ``results`` are the workload's own, by the names of registered metrics (:mod:`ciphermark_core.metrics`).
    """

    accuracy: Accuracy
    complaint: str | None = None
    results: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Choice:
    """A parameter set, with values of options, that is worth comparing with others."""

    options: Mapping[str, Value]
    parameters: ParameterSpec


@dataclass(frozen=True, slots=True)
class Decision:
    """A choice that Ciphermark made for a workload's author: what it is, its value, and the reason in a few words."""

    name: str
    value: str
    reason: str


class Workload(ABC, Generic[Input, Output]):
    """One workload with its options. Instances hold no data: everything comes with the input.

    ``name`` is its name in suites, ``title`` a line for the reader. ``Options`` is the type of its options, each with
    its default; ``options`` are those of this instance. A workload that ``takes_data`` computes on a data set; any
    other makes its input from a seed.

    ``tolerance`` is the maximum error of a correct ckks value, for the default :meth:`judge`. If given,
    ``relative_tolerance`` replaces it, relative to max(1, largest expected value). With ``is_literal`` every operation
    is executed, even those that no output needs: for circuits that others published. For estimates, ``pass_s`` is the
    rough time of a pass at N = 4096, of a workload whose :meth:`outline` takes less; it is scaled to larger rings.
    Without ``keeps_constants`` the server encodes the constants of a stage in every pass, and keeps those of no other:
    they would not fit its memory together. With ``has_checkpoints``, an interrupted trial resumes after its last stage,
    on libraries whose secret key the client can keep.
    """

    family: str = OWN
    name: str
    title: str
    schemes: tuple[Scheme, ...]
    Options: ClassVar[type[msgspec.Struct]] = NoOptions
    takes_data: bool = False
    tolerance: float = 1e-3
    relative_tolerance: float | None = None
    pass_s: float | None = None
    is_literal: bool = False
    keeps_constants: bool = True
    has_checkpoints: bool = False

    def __init_subclass__(cls) -> None:
        """Set the family of a class by the folder that contains it."""
        super().__init_subclass__()
        package, *folders = cls.__module__.split(".")
        if package == __package__ and len(folders) == 2:
            cls.family = folders[0]

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages, in order, of which the last returns the result."""
        return (Stage("compute"),)

    @property
    def has_layers(self) -> bool:
        """Whether it names parts of its circuits: see :meth:`layers`."""
        return type(self).layers is not Workload.layers

    @property
    def options(self) -> Any:
        """The options of this instance, of the type ``Options``: the defaults, or those of :meth:`with_options`."""
        return self.__dict__.get("_options") or self.Options()

    def with_options(self, values: Mapping[str, Value]) -> Workload[Input, Output]:
        """This workload with other options; raises ``UserError`` for unknown options and invalid values."""
        other = copy.copy(self)
        other.__dict__["_options"] = read(self.Options, values, self.name)
        return other

    def as_kept(self, file: str, data: bytes) -> tuple[str, bytes]:
        """The name and the content of a file that an option names, in the form that parties read. Raises ``UserError``
        for content without such a form.
        """
        return file, data

    def with_file(self, option: str, name: str, data: bytes, values: Mapping[str, Value]) -> dict[str, Value]:
        """The values of options after one of them names a file, with those that follow from its content. Called when a
        suite is read, in the order of options. ``name`` is the file's name in results. Raises ``UserError`` for
        unusable content.
        """
        raise UserError(f"{self.name} takes no files")

    def stage(self, name: str) -> Stage:
        """The stage of a name; raises ``KeyError`` for an unknown one."""
        return {stage.name: stage for stage in self.stages}[name]

    @property
    def server_stages(self) -> tuple[Stage, ...]:
        """The stages with the server, in order."""
        return tuple(stage for stage in self.stages if stage.has_server)

    def require_scheme(self, scheme: Scheme) -> None:
        """Raise ``Unsupported`` for a scheme that it does not support."""
        if scheme not in self.schemes:
            raise Unsupported(f"{self.name} is made for {', '.join(self.schemes)}, not {scheme}")

    # --- What both parties and the suite ask -------------------------------------------------------------------------

    @abstractmethod
    def parameters(self, scheme: Scheme) -> ParameterSpec:
        """The recommended parameter set; raises ``Unsupported`` for a scheme that the workload does not support."""

    def roomy_parameters(self, scheme: Scheme) -> ParameterSpec:
        """The parameter set for libraries that choose their own primes, some of which are larger than requested."""
        return self.parameters(scheme)

    def choices(self, scheme: Scheme) -> Sequence[Choice]:
        """Parameter sets and options that are worth comparing, the recommended ones first; raises as
        :meth:`parameters`.
        """
        return (Choice({}, self.parameters(scheme)),)

    def decisions(self, scheme: Scheme) -> Sequence[Decision]:
        """The choices behind the recommended parameters, for the reader; empty where the author made them."""
        return ()

    @property
    def is_seeded(self) -> bool:
        """Whether its ciphertexts are encrypted with the secret key and written with the seed of their uniform halves,
        where a library supports this. They take half of the bytes, and have less noise than with the public key. Users'
        own workloads do so by default.
        """
        return self.family == OWN

    def seeded_parameters(self, scheme: Scheme) -> ParameterSpec:
        """The parameter set for seeded ciphertexts of a workload that ``is_seeded``."""
        return self.parameters(scheme)

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        """The managed operations that a variant must declare. A circuit that needs an operation missing in a library is
        ``unsupported`` in any case; these are known before any process is started.
        """
        return ()

    def keys(self, parameters: Parameters) -> KeyRequest | None:
        """The evaluation keys that the server needs; ``None`` for those that its traced programs need."""
        return None

    def input_ciphertexts(self, stage: str, parameters: Parameters) -> int | None:
        """The number of ciphertexts that a client sends for an input of a stage, if it is the same for all inputs: a
        server refuses any other number before any work. ``None`` where it varies.
        """
        return None

    def server_bytes(self, parameters: Parameters) -> int:
        """A rough estimate of the server's memory without keys: its constants, their sources, and ciphertexts where
        these are many. A plan refuses a workload that exceeds its budget before any of this is made.
        """
        return 0

    def outline(self, parameters: Parameters) -> Workload[Input, Output]:
        """A smaller workload of the same stages, kinds of operations and depth. A plan traces it instead, to find
        features that a library lacks. The workload itself, unless its programs hold much data.
        """
        return self

    # --- The client --------------------------------------------------------------------------------------------------

    @abstractmethod
    def input(self, seed: int, data: Any) -> Input:
        """The input, made from the seed, or from the data set of a workload that takes one (else ``None``)."""

    def given_input(self, values: Sequence[float]) -> Input:
        """An input given as numbers, instead of one by :meth:`input`. Raises ``UserError`` for invalid numbers, and
        where the workload accepts no given inputs.
        """
        raise UserError(f"{self.name} generates its inputs: give none")

    def require_room(self, given: Input, parameters: Parameters) -> None:
        """Raise ``Unsupported`` for an input whose computation exceeds the range of the parameters. Evaluates the
        algorithm in the clear, so it is called once for each input.
        """

    @abstractmethod
    def vectors(self, stage: str, given: Input, parameters: Parameters) -> list[Vector]:
        """The vectors that the client encrypts for a stage, in order: at most ``parameters.slots`` values each, int64
        in [0, t) for bfv and bgv, float64 for ckks. Raises ``Unsupported`` for input that does not fit.
        """

    def public(self, stage: str, given: Input, parameters: Parameters) -> Arrays:
        """The server's plaintext data for a stage, such as public sizes: named arrays of float64.

        In a stage without the server this is the client's whole work. It is timed as step ``fit``, repeated in every
        pass, and sent to the server with the next stage.
        """
        return {}

    def plaintext_bytes(self, stage: str, given: Input, parameters: Parameters) -> int:
        """The size of a stage's data before encryption: 8 bytes per number."""
        return sum(8 * vector.size for vector in self.vectors(stage, given, parameters))

    def decrypted(self, owner: KeyOwner, results: Handles) -> list[Vector]:
        """The vectors for :meth:`output`, from the results of the last stage: one for each, unless ciphertexts hold
        parts of others.
        """
        return [owner.decrypt(item) for item in results]

    def opened(self, owner: KeyOwner, results: Handles) -> list[Handle]:
        """All ciphertexts that :meth:`decrypted` decrypts. If one of them has no noise budget left, noise is the reason
        for an incorrect output.
        """
        return [*results]

    @abstractmethod
    def output(self, outputs: Sequence[Vector], given: Input, parameters: Parameters) -> Output:
        """The output in the decrypted results of the last stage: all slots of each."""

    @abstractmethod
    def reference(self, given: Input) -> Output:
        """The same algorithm in the clear, in floating point."""

    def expected(self, given: Input, parameters: Parameters) -> Output:
        """The circuit's result without any noise: the reference; in fixed point, exact to the last digit."""
        return self.reference(given)

    def judge(self, found: Output, truth: Truth[Input, Output]) -> Judgement:
        """Whether an output is correct. By default outputs are arrays, which are compared with the expected one value
        by value: exactly in bfv and bgv, within ``tolerance`` or ``relative_tolerance`` in ckks.
        """
        is_absolute = self.relative_tolerance is None
        tolerance = self.tolerance if self.relative_tolerance is None else self.relative_tolerance
        if truth.parameters.spec.scheme in EXACT_SCHEMES:
            tolerance = 0.0
        actual, expected = (
            np.asarray(values, dtype=np.float64).ravel() for values in (found, truth.expected)
        )
        if actual.shape != expected.shape:
            return Judgement(
                Accuracy(checking.UNBOUNDED, expected.size, tolerance),
                f"the output has {actual.size} values, and {expected.size} were expected",
            )
        accuracy = checking.accuracy([actual], [expected], tolerance, is_absolute=is_absolute)
        wrong, complaint = accuracy.incorrect_slots, None
        if wrong:
            worst = _worst(actual, expected)
            complaint = (
                f"{wrong} of {actual.size} values are incorrect: {worst}; {_allowed(tolerance, is_absolute)}"
            )
        return Judgement(accuracy, complaint)

    # --- The server --------------------------------------------------------------------------------------------------

    @abstractmethod
    def circuit(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> list[Handle]:
        """The server's part of a stage. ``state`` is the result of the stage before, ``public`` the client's plaintext
        data.

        It is traced once for each stage, number of inputs and ``public``. The trace is then executed, so it must not
        depend on anything else. Its constants are encoded once (step ``encode``).
        """

    def server_results(self, program: Program, threads: int) -> Mapping[str, float]:
        """The server's results about the program of a stage, by the names of registered metrics; made once, in the
        first pass, outside of all timing.
        """
        return {}

    def layers(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> Mapping[str, list[Handle]]:
        """The circuit in parts that can be measured separately: the results of each part, by its name, in order. The
        last part ends with the results of :meth:`circuit`, and takes the results of the others.
        """
        return {stage: self.circuit(stage, evaluator, inputs, state, public)}


def _worst(actual: npt.NDArray[np.float64], expected: npt.NDArray[np.float64]) -> str:
    """The value with the largest error; values that are not a number come first."""
    errors = np.abs(actual - expected)
    at = int(np.argmax(np.where(np.isfinite(errors), errors, np.inf)))
    found, right, error = actual[at], expected[at], errors[at]
    return f"value {at} is {found:.10g}, and {right:.10g} was expected; the largest error is {error:.3g}"


def _allowed(tolerance: float, is_absolute: bool) -> str:
    if tolerance == 0:
        return "values must be exact"
    if is_absolute:
        return f"{tolerance:g} is allowed (`tolerance`)"
    return f"{tolerance:g} of the largest expected value, or of 1, is allowed (`relative_tolerance`)"


class Layered(Workload[Input, Output]):
    """A workload that defines its circuits by their layers."""

    @abstractmethod
    def layers(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> Mapping[str, list[Handle]]:
        """See :meth:`Workload.layers`."""

    def circuit(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> list[Handle]:
        """The results of the last layer."""
        return [*self.layers(stage, evaluator, inputs, state, public).values()][-1]


AnyWorkload: TypeAlias = Workload[Any, Any]
