"""What a workload is: a circuit in stages, what it computes on, what to expect of it, and how to judge what came out.

Two parties carry it out. The client makes the input, encrypts what a stage needs, and decrypts and judges what comes
back. The server, which holds public material alone, computes. How ciphertexts get from one to the other is no matter
of a workload. A family is a folder of workloads that are judged alike.
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
OWN = "own"  # the family of workloads that are in no family's folder


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage. What the server ``returns`` of it is ``state``, which it keeps for the next stage, or the ``result``,
    which the client decrypts and judges: that of the last stage, and of no other. In a stage that returns ``nothing``
    the client computes alone: see :meth:`Workload.public`.
    """

    name: str
    returns: Returns = "result"

    @property
    def has_server(self) -> bool:
        """Whether the server computes in it."""
        return self.returns != "nothing"


@dataclass(frozen=True, slots=True)
class Truth(Generic[Input, Output]):
    """What an output is judged by: the input, and what the same algorithm makes of it in the clear, in floating point
    (``reference``) and as exactly as the circuit computes (``expected``).
    """

    input: Input
    reference: Output
    expected: Output
    parameters: Parameters


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether an output is right. ``complaint`` says why it is wrong, ``None`` where it is right.

    ``results`` are the workload's own, by the names of registered metrics (:mod:`ciphermark_core.metrics`).
    """

    accuracy: Accuracy
    complaint: str | None = None
    results: Mapping[str, float] = field(default_factory=dict)


class Workload(ABC, Generic[Input, Output]):
    """One workload with its options. Instances hold no data: everything comes with the input.

    ``name`` is what suites call it, ``title`` a line for the reader. ``Options`` is the type of its options, each with
    its default; ``options`` are those of this instance. A workload that ``takes_data`` computes on a data set; any
    other makes its input of a seed. ``tolerance`` is the largest error of a ckks value that counts as right: what
    :meth:`judge` goes by where a workload does not judge by itself. ``relative_tolerance``, where it is given, takes
    its place, relative to max(1, largest expected value). Of one that ``is_literal`` every operation is executed, also
    what no output needs: for circuits that others published. For estimates, ``pass_s`` is what a pass takes at
    N = 4096, roughly: larger rings take longer by themselves.
    """

    family: str = OWN
    name: str
    title: str
    schemes: tuple[Scheme, ...]
    stages: tuple[Stage, ...] = (Stage("compute"),)
    Options: ClassVar[type[msgspec.Struct]] = NoOptions
    takes_data: bool = False
    tolerance: float = 1e-3
    relative_tolerance: float | None = None
    pass_s: float = 0.1
    is_literal: bool = False

    def __init_subclass__(cls) -> None:
        """A class in the folder of a family is of that family."""
        super().__init_subclass__()
        package, *folders = cls.__module__.split(".")
        if package == __package__ and len(folders) == 2:
            cls.family = folders[0]

    @property
    def has_layers(self) -> bool:
        """Whether it names parts of its circuits: see :meth:`layers`."""
        return type(self).layers is not Workload.layers

    @property
    def options(self) -> Any:
        """The options of this instance, of the type ``Options``: the defaults, until :meth:`with_options`."""
        return self.__dict__.get("_options") or self.Options()

    def with_options(self, values: Mapping[str, Value]) -> Workload[Input, Output]:
        """This workload with other options; raises ``UserError`` for those that it does not have or cannot take."""
        other = copy.copy(self)
        other.__dict__["_options"] = read(self.Options, values, self.name)
        return other

    def as_kept(self, file: str, data: bytes) -> tuple[str, bytes]:
        """The name and the contents of a file that an option names, in the form that parties read. Raises ``UserError``
        for contents that have no such form.
        """
        return file, data

    def with_file(self, option: str, name: str, data: bytes, values: Mapping[str, Value]) -> dict[str, Value]:
        """The values of options where one of them names a file, and what follows from its contents: asked where a suite
        is read, in the order of options. ``name`` is what results call the file. Raises ``UserError`` for contents that
        it cannot take.
        """
        raise UserError(f"{self.name} takes no files")

    def stage(self, name: str) -> Stage:
        """The stage of a name; raises ``KeyError`` for an unknown one."""
        return {stage.name: stage for stage in self.stages}[name]

    @property
    def server_stages(self) -> tuple[Stage, ...]:
        """The stages that the server computes in, in order."""
        return tuple(stage for stage in self.stages if stage.has_server)

    def require_scheme(self, scheme: Scheme) -> None:
        """Raise ``Unsupported`` for a scheme that it is not made for."""
        if scheme not in self.schemes:
            raise Unsupported(f"{self.name} is made for {', '.join(self.schemes)}, not {scheme}")

    # --- What both parties and the suite ask -------------------------------------------------------------------------

    @abstractmethod
    def parameters(self, scheme: Scheme) -> ParameterSpec:
        """The recommended parameter set; raises ``Unsupported`` for a scheme that the workload is not made for."""

    def roomy_parameters(self, scheme: Scheme) -> ParameterSpec:
        """The parameter set for libraries that choose their own primes, of which some are larger than asked for."""
        return self.parameters(scheme)

    @property
    def is_seeded(self) -> bool:
        """Whether its ciphertexts are encrypted with the secret key and written with the seed of their uniform halves,
        where a library writes such: half of the bytes, and less noise than encryption with the public key leaves.
        Those of users' own are, unless they say otherwise.
        """
        return self.family == OWN

    def seeded_parameters(self, scheme: Scheme) -> ParameterSpec:
        """The parameter set where ciphertexts of one that ``is_seeded`` are written so."""
        return self.parameters(scheme)

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        """The managed operations that a variant must declare. A circuit that asks for what a library does not have is
        ``unsupported`` in any case; these are known before anything is started.
        """
        return ()

    def keys(self, parameters: Parameters) -> KeyRequest | None:
        """The evaluation keys that the server needs; ``None``: those that its traced programs need."""
        return None

    def input_ciphertexts(self, stage: str, parameters: Parameters) -> int | None:
        """How many ciphertexts a client sends for an input of a stage, where that is the same for all inputs: a server
        refuses another number before any work. ``None`` where inputs differ in it.
        """
        return None

    def server_bytes(self, parameters: Parameters) -> int:
        """What the server keeps beside keys, roughly: its constants, what they are made of, and ciphertexts where these
        are many. Where that is much, a plan refuses what is more than its budget gives before anything of it is made.
        """
        return 0

    def outline(self, parameters: Parameters) -> Workload[Input, Output]:
        """A workload of the same stages and kinds of operations, as deep, that carries less: what a plan traces in its
        place to tell what a library lacks for it. Itself, unless what its programs carry is large.
        """
        return self

    # --- The client --------------------------------------------------------------------------------------------------

    @abstractmethod
    def input(self, seed: int, data: Any) -> Input:
        """What is computed on: made of the seed, or of the data set that a workload takes (else ``None``)."""

    def given_input(self, values: Sequence[float]) -> Input:
        """An input that somebody gives as numbers, in the place of one by :meth:`input`. Raises ``UserError`` for
        numbers that are none, and where inputs are not taken from anybody.
        """
        raise UserError(f"{self.name} generates its inputs: give none")

    def require_room(self, given: Input, parameters: Parameters) -> None:
        """Raise ``Unsupported`` for an input that leads to numbers which the parameters do not hold; by the algorithm
        in the clear, so that it is asked once for an input.
        """

    @abstractmethod
    def vectors(self, stage: str, given: Input, parameters: Parameters) -> list[Vector]:
        """The vectors that the client encrypts for a stage, in order: at most ``parameters.slots`` values each, int64
        in [0, t) for bfv and bgv, float64 for ckks. Raises ``Unsupported`` for what does not fit.
        """

    def public(self, stage: str, given: Input, parameters: Parameters) -> Arrays:
        """What the server is told in the clear with a stage: named arrays of float64, public sizes say.

        In a stage without the server it is all that the client does: timed as its step ``fit``, again in every pass,
        and told to the server with the next stage.
        """
        return {}

    def plaintext_bytes(self, stage: str, given: Input, parameters: Parameters) -> int:
        """The size of what is encrypted for a stage, before encryption: 8 bytes a number."""
        return sum(8 * vector.size for vector in self.vectors(stage, given, parameters))

    def decrypted(self, owner: KeyOwner, results: Handles) -> list[Vector]:
        """The vectors that :meth:`output` takes, of the results of the last stage: of each, unless ciphertexts hold
        parts of others.
        """
        return [owner.decrypt(item) for item in results]

    def opened(self, owner: KeyOwner, results: Handles) -> list[Handle]:
        """All that :meth:`decrypted` decrypts: where one of these has no noise budget left, noise is why an output is
        wrong.
        """
        return [*results]

    @abstractmethod
    def output(self, outputs: Sequence[Vector], given: Input, parameters: Parameters) -> Output:
        """What the decrypted results of the last stage say: all slots of each."""

    @abstractmethod
    def reference(self, given: Input) -> Output:
        """The same algorithm in the clear, in floating point."""

    def expected(self, given: Input, parameters: Parameters) -> Output:
        """What the circuit computes when nothing goes wrong: the reference; in fixed point, that to the last digit."""
        return self.reference(given)

    def judge(self, found: Output, truth: Truth[Input, Output]) -> Judgement:
        """Whether an output is right. By default outputs are arrays, which are compared with the expected one value by
        value: exactly in bfv and bgv, within ``tolerance`` or ``relative_tolerance`` in ckks.
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
        """The server's part of a stage. ``state`` is what the stage before returned, ``public`` what the client told.

        It is traced once for each stage, number of inputs and ``public``, and what was traced is what is executed: it
        must not depend on anything else. What it encodes is encoded once (step ``encode``).
        """

    def server_results(self, program: Program, threads: int) -> Mapping[str, float]:
        """What a server tells once of the program that it made for a stage, by the names of registered metrics; made in
        the first pass, where nothing is timed.
        """
        return {}

    def layers(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> Mapping[str, list[Handle]]:
        """The circuit in parts whose times and errors one may ask for: what each of them ends with, by its name, in
        order. The last ends with what :meth:`circuit` returns, and takes what the others end with.
        """
        return {stage: self.circuit(stage, evaluator, inputs, state, public)}


def _worst(actual: npt.NDArray[np.float64], expected: npt.NDArray[np.float64]) -> str:
    """The value with the largest error, one that is no number before all others."""
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
    """A workload that says its circuits by their layers alone."""

    @abstractmethod
    def layers(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> Mapping[str, list[Handle]]:
        """See :meth:`Workload.layers`."""

    def circuit(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> list[Handle]:
        """What the last layer ends with."""
        return [*self.layers(stage, evaluator, inputs, state, public).values()][-1]


AnyWorkload: TypeAlias = Workload[Any, Any]
