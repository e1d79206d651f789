"""What a workload will cost: times of all steps of both parties, bytes, and memory, from a cost table. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ciphermark_contract.declaration import Declaration
from ciphermark_contract.footprint import PartyBytes, Switching
from ciphermark_contract.keys import KeyRequest
from ciphermark_contract.operations import Shape, fresh
from ciphermark_contract.program import Program
from ciphermark_core.model import Parameters
from ciphermark_model import sizes
from ciphermark_model.interpolation import Costs
from ciphermark_model.precision import Precision
from ciphermark_model.pricing import Priced, Pricer, count_of
from ciphermark_model.quantity import Quantity
from ciphermark_model.scheduling import makespans
from ciphermark_model.table import CostTable, Key

EVALUATE = "evaluate"
# The half-width of 80% in that of 95%, of a normal distribution.
_OF_95 = 1.2816 / 1.96
# The relative half-width of the model itself, before it has a track record on a host.
_MODEL = 0.05
_SHARED = 0.05  # the relative half-width of nodes on several threads, which share caches and memory
_OLDER = 0.1  # the relative half-width of costs of an earlier build
_MIN_RECORD = 10  # predictions with a measured time, from which the record alone counts


@dataclass(frozen=True, slots=True)
class StageSubject:
    """One stage with its program. ``inputs`` fresh ciphertexts are sent, and with ``returns_result`` the outputs are
    sent back.
    """

    name: str
    program: Program
    inputs: int
    returns_result: bool = True


@dataclass(frozen=True, slots=True)
class Subject:
    """What is predicted: the stages of a workload for one variant, the evaluation keys, the bytes of the constants'
    vectors and of what the workload keeps on the server, and whether ciphertexts are sent with seeds.
    """

    declared: Declaration
    stages: tuple[StageSubject, ...]
    keys: KeyRequest
    constant_bytes: tuple[int, ...] = ()
    stored_bytes: int = 0
    is_seeded: bool = False

    @property
    def parameters(self) -> Parameters:
        """The resolved parameters, the same for all stages."""
        return self.stages[0].program.parameters

    @property
    def switching(self) -> Switching:
        """The library's key switching with these parameters."""
        return switching(self.declared, self.parameters)

    @property
    def memory(self) -> PartyBytes | None:
        """The peaks of both parties; ``None`` where the library's footprint is unknown."""
        footprint = self.declared.footprint
        programs = [stage.program for stage in self.stages]
        if footprint is None:
            return None
        return footprint.parties(programs, self.constant_bytes, self.keys, self.stored_bytes)

    @property
    def form(self) -> sizes.Format:
        """The form in which ciphertexts and keys are sent."""
        return sizes.Format.of(self.declared, self.parameters, self.switching)

    @property
    def key_bytes(self) -> int:
        """Bytes of the evaluation keys."""
        return self.form.keys(self.keys)


def switching(declared: Declaration, parameters: Parameters) -> Switching:
    """A library's key switching; where it declares no footprint, of a digit per prime."""
    if declared.footprint is not None:
        return declared.footprint.switching(parameters)
    return Switching(len(parameters.moduli), len(parameters.special_moduli))


@dataclass(frozen=True, slots=True)
class Share:
    """The part of the evaluation that the nodes of one operation at one level take, on one thread."""

    operation: str
    level: int
    count: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Prediction:
    """The predicted costs of one input, without keys that are generated before.

    ``times_s`` has seconds by party, stage and step. ``uncovered`` names each step and cost that the table lacks; their
    times are missing in the sums, and the prediction is partial. ``remarks`` state where the table is of another host
    or build. Memory is ``None`` where the library's footprint is unknown. Packing and unpacking of vectors and starting
    libraries are no part of a prediction.
    """

    variant: str
    parameters: Parameters
    threads: int
    table: str
    times_s: Mapping[tuple[str, str, str], Quantity]
    evaluation: Quantity
    shares: tuple[Share, ...]
    upload_bytes: int
    download_bytes: int
    key_bytes: int
    client_memory_bytes: int | None
    server_memory_bytes: int | None
    uncovered: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    precision: Precision | None = None

    @property
    def is_partial(self) -> bool:
        """Whether costs are missing in the evaluation."""
        return any(text.startswith(f"{EVALUATE}: ") for text in self.uncovered)

    @property
    def is_bound(self) -> bool:
        """Whether costs are missing in the time from the input to the output, to which encoding does not belong."""
        return any(not text.startswith(f"{ENCODE}: ") for text in self.uncovered)

    def end_to_end(self, bandwidth_bits_per_s: float, rtt_s: float = 0.0) -> Quantity:
        """The time from the input to the output: all steps, and a message in both directions for each stage."""
        transfer_s = 8 * (self.upload_bytes + self.download_bytes) / bandwidth_bits_per_s
        stages = {stage for _, stage, step in self.times_s if step == EVALUATE}
        extra_s = transfer_s + rtt_s * len(stages)
        parts = [quantity for (_, _, step), quantity in self.times_s.items() if step != ENCODE]
        return total([*parts, Quantity(extra_s, extra_s, extra_s)])


ENCODE = "encode"


def total(parts: Iterable[Quantity]) -> Quantity:
    """The sum. Errors of costs from one table go together: half-widths are added."""
    several = list(parts)
    return Quantity(
        *(math.fsum(getattr(item, name) for item in several) for name in ("value", "low", "high"))
    )


def predict(subject: Subject, table: CostTable | Costs, threads: int = 1) -> Prediction:
    """Predict the costs of a subject.

    The evaluation is the sum over nodes, or the makespan of list scheduling where the library executes nodes on
    threads (:mod:`.scheduling`). Each node's cost lies between that of cached and of streamed operands, by reuse
    distances (:mod:`.reuse`). The half-width of its 80% interval is the root of the sum of squares of

    - the intervals of the medians: nodes with one table entry err together, entries independently,
    - half of the difference between a last-level cache of half and of double size,
    - the model's own error: 5%, or from ten predictions with a measured time on, the 10th and 90th percentiles of these
      (:attr:`CostTable.residuals`),
    - 5% if nodes execute on several threads,
    - 10% if costs are of an earlier build, and the table's ``widening`` for another host.
    """
    pricer = _pricer(subject, table, threads)
    steps, evaluations, shares = _Steps(pricer.costs.table), list[Quantity](), list[Share]()
    for stage in subject.stages:
        priced = pricer.priced(stage.program)
        steps.lacks(EVALUATE, priced.lacking)
        steps.older |= priced.older
        evaluation = _evaluation(stage.program, priced, steps.table, subject.declared, threads)
        evaluations.append(evaluation)
        steps.times_s["server", stage.name, EVALUATE] = evaluation
        _of_client(stage, subject, pricer, steps)
        shares += _shares(stage.program, priced)
    memory, form = subject.memory, subject.form
    sent = [fresh(subject.parameters)] * sum(stage.inputs for stage in subject.stages)
    return Prediction(
        variant=subject.declared.variant,
        parameters=subject.parameters,
        threads=threads,
        table=steps.table.digest,
        times_s=steps.times_s,
        evaluation=total(evaluations),
        shares=tuple(sorted(shares, key=lambda share: -share.seconds)),
        upload_bytes=sum(form.ciphertext(shape, is_seeded=subject.is_seeded) for shape in sent),
        download_bytes=sum(form.ciphertext(shape) for stage in subject.stages for shape in returned(stage)),
        key_bytes=subject.key_bytes,
        client_memory_bytes=memory.client if memory else None,
        server_memory_bytes=memory.server if memory else None,
        uncovered=tuple(steps.uncovered),
        remarks=steps.remarks,
    )


def _pricer(subject: Subject, table: CostTable | Costs, threads: int) -> Pricer:
    costs = table if isinstance(table, Costs) else Costs(table)
    return Pricer(costs, subject.declared, subject.parameters, subject.switching, threads)


def _shares(program: Program, priced: Priced) -> list[Share]:
    seconds: dict[tuple[str, int], float] = {}
    for node, node_s in zip(program.nodes, priced.seconds[0].tolist(), strict=True):
        place = node.operation, program.level_of(node)
        seconds[place] = seconds.get(place, 0.0) + node_s
    return [Share(*place, count, seconds[place]) for place, count in program.counts.items()]


def returned(stage: StageSubject) -> list[Shape]:
    """The shapes of the ciphertexts that the server sends back."""
    program = stage.program
    return [program.shapes[value] for value in program.outputs] if stage.returns_result else []


def published_rule(subject: Subject, table: CostTable | Costs, threads: int = 1) -> float | None:
    """Seconds of the evaluation by the rule of CryptOracle (ISPASS 2026): each node costs the median of its operation
    at the top level, on cached operands, whatever its level; encoding is free. ``None`` where a median is missing.
    """
    pricer = _pricer(subject, table, threads)
    seconds, primes = 0.0, len(subject.parameters.moduli)
    for stage in subject.stages:
        for node in stage.program.nodes:
            part = pricer.part(node.operation, primes, count_of(node), 2)
            if isinstance(part, Key):
                return None
            seconds += part.cached.median
    return seconds


@dataclass(slots=True)
class _Steps:
    """Times of steps so far, and what is lacking for others."""

    table: CostTable
    times_s: dict[tuple[str, str, str], Quantity] = field(default_factory=dict)
    uncovered: list[str] = field(default_factory=list)
    older: set[Key] = field(default_factory=set)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Those of the table, and whether costs are of an earlier build."""
        if not self.older:
            return self.table.remarks
        return (*self.table.remarks, "some costs are of an earlier build: intervals are wider")

    def lacks(self, step: str, keys: Mapping[Key, int]) -> None:
        texts = (f"{step}: {key.words}, {count} times" for key, count in keys.items())
        self.uncovered = list(dict.fromkeys([*self.uncovered, *texts]))

    def add(self, place: tuple[str, str, str], parts: Sequence[tuple[Key, float]], costs: Costs) -> None:
        """Add a step of these costs, each times a factor."""
        used = {key: factor for key, factor in parts if factor}
        found = {key: cost for key in used if (cost := costs.of(key)) is not None}
        self.lacks(place[2], dict.fromkeys(used.keys() - found.keys(), 1))
        if used and len(found) == len(used):
            self.older |= {key for key, cost in found.items() if cost.is_older}
            scaled = [found[key].scaled(factor) for key, factor in used.items()]
            value = math.fsum(cost.median for cost in scaled)
            width = math.fsum(cost.high - cost.low for cost in scaled) / 2
            older = _OLDER * value if any(cost.is_older for cost in scaled) else 0.0
            self.times_s[place] = _interval(value, [width * _OF_95, older], self.table)


def _evaluation(
    program: Program, priced: Priced, table: CostTable, declared: Declaration, threads: int
) -> Quantity:
    at_once = threads if declared.programs_have_threads else 1
    value, larger, smaller = makespans(program, [item.tolist() for item in priced.seconds], at_once)
    work = math.fsum(priced.seconds[0]) or 1.0
    medians = math.sqrt(math.fsum(width**2 for width in priced.half_widths.values())) * value / work
    older = _OLDER * value if priced.older else 0.0
    shared = _SHARED * value if at_once > 1 else 0.0
    return _interval(value, [medians * _OF_95, abs(smaller - larger) / 2, older, shared], table)


def _interval(value: float, half_widths: Sequence[float], table: CostTable) -> Quantity:
    """The 80% interval of a value with these independent half-widths, and the model's own error."""
    spread = math.sqrt(math.fsum(width**2 for width in half_widths)) / value if value else 0.0
    low, high = -_MODEL, _MODEL
    if len(table.residuals) >= _MIN_RECORD:
        ordered = sorted(math.expm1(residual) for residual in table.residuals)
        low, high = (ordered[round(share * (len(ordered) - 1))] for share in (0.1, 0.9))
    down = math.hypot(spread, min(low, 0.0), table.widening)
    up = math.hypot(spread, max(high, 0.0), table.widening)
    return Quantity(value, value * max(0.0, 1 - down), value * (1 + up))


def _of_client(stage: StageSubject, subject: Subject, pricer: Pricer, steps: _Steps) -> None:
    """The steps around an evaluation: encryption, serialization in both directions, decryption; encoded constants. A
    ciphertext with a seed is written when it is encrypted.
    """
    costs, name, residues = pricer.costs, stage.name, pricer.residues
    top, sent = len(subject.parameters.moduli), stage.inputs * residues
    step = _in_one_thread(pricer)
    back = returned(stage) * residues
    primes = [pricer.lowest + shape.level for shape in back]
    written = math.fsum(
        number * shape.polynomials / (2 * top) for number, shape in zip(primes, back, strict=True)
    )
    if subject.is_seeded:
        steps.add(("client", name, "encrypt"), [(step("dump_seeded", top), sent)], costs)
        steps.add(("server", name, "deserialize"), [(step("load_seeded", top), sent)], costs)
    else:
        steps.add(("client", name, "encrypt"), [(step("encrypt", top), sent)], costs)
        steps.add(("client", name, "serialize"), [(step("dump", top), sent)], costs)
        steps.add(("server", name, "deserialize"), [(step("load", top), sent)], costs)
    steps.add(("server", name, ENCODE), _encodings(stage.program, pricer), costs)
    steps.add(("server", name, "serialize"), [(step("dump", top), written)], costs)
    steps.add(("client", name, "deserialize"), [(step("load", top), written)], costs)
    forms = Counter((number, shape.polynomials) for number, shape in zip(primes, back, strict=True))
    decrypted = [
        (replace(step("decrypt", number), count=count), float(n)) for (number, count), n in forms.items()
    ]
    steps.add(("client", name, "decrypt"), decrypted, costs)


def _encodings(program: Program, pricer: Pricer) -> list[tuple[Key, float]]:
    """The costs of encoding a program's constants, each once: at its level where such costs exist, else at the top.

    The managed form encodes in its nodes.
    """
    if program.is_managed:
        return []
    step, top = _in_one_thread(pricer), len(program.parameters.moduli)
    keys = []
    for level, count in Counter(constant.level for constant in program.constants).items():
        at_level = step("encode_at_level", pricer.lowest + level)
        key = at_level if pricer.costs.of(at_level) else step("encode", top)
        keys.append((key, float(count * pricer.residues)))
    return keys


def _in_one_thread(pricer: Pricer) -> Callable[[str, int], Key]:
    return lambda operation, primes: pricer.key(operation, primes, threads=1)
