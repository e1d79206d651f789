"""Advice for a workload on this host: the candidates and their predictions, the answer for people and programs, and
the suite of a point.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from statistics import median
from typing import Any, TypeAlias

import msgspec
from ruamel.yaml import YAML

from ciphermark_adapters import registry
from ciphermark_adapters.registry import Availability
from ciphermark_analysis.correction import counted
from ciphermark_benchmark import predicting
from ciphermark_benchmark.limits import WishText
from ciphermark_benchmark.runner import reference_kernel_baseline
from ciphermark_contract.declaration import Declaration
from ciphermark_core import primes, security
from ciphermark_core.descriptor import Value
from ciphermark_core.errors import Unsupported, UserError
from ciphermark_core.key_switching import Tuning
from ciphermark_core.model import Outcome, Parameters, ParameterSpec, Sample, Scheme
from ciphermark_core.run import Host
from ciphermark_db.database import Database
from ciphermark_measure.parties import messages
from ciphermark_model import interpolation
from ciphermark_model.advice import Candidate, Costs, Limits, Objective, advise, operations_of
from ciphermark_model.precision import MIN_ROOM_BITS, Precision
from ciphermark_model.prediction import Prediction, predict, switching
from ciphermark_model.quantity import Quantity
from ciphermark_model.table import CostTable
from ciphermark_workloads.catalogue import AnyWorkload
from ciphermark_workloads.data_sets import DATA_SETS
from ciphermark_workloads.options import of_case, to_case
from ciphermark_workloads.parameters import Override, changed, recommended, sends_seeded
from ciphermark_workloads.programs import Programs, all_traced
from ciphermark_workloads.workload import Workload

DATA_SET, SEED = "boston", 1  # of workloads that take data; of inputs
_LEAST_SCALE, _SCALE_STEPS = (
    20,
    (-10, -5, 5, 10),
)  # bits by which other scales differ from the recommended one
_TUNINGS: tuple[Tuning, ...] = ("matched", "recommended")
_LARGEST_RING, _SMALLEST_RING = 1 << 16, 1 << 11
_BUDGET = {"processes": 2, "min_samples": 10, "warmups": 1}  # of suites that verify advice
_EVALUATE: messages.Step = "evaluate"
# Steps that are no part of a pass: they happen once, or are the rest of the wall time.
_NO_STEPS = (messages.TRANSFER, messages.CHECK, messages.TRACE, messages.ENCODE)

Predict: TypeAlias = Callable[[AnyWorkload, ParameterSpec, str, int], Prediction]


@dataclass(frozen=True, slots=True)
class Link:
    """The link between the parties: bits per second in each direction, and the time of a round trip. Without a
    bandwidth, transfer takes no time.
    """

    bandwidth: float | None = None
    round_trip_s: float = 0.0


NO_LINK, NO_LIMITS = Link(), Limits()


@dataclass(frozen=True, slots=True)
class Wish:
    """What to advise on: a workload by ``name``, as suites write it, with its options; the limits, the objective, the
    link, numbers of threads, the price of a core for an hour, and whether costs of another host count.
    """

    workload: AnyWorkload
    name: str
    limits: Limits = NO_LIMITS
    objective: Objective = "time"
    link: Link = NO_LINK
    threads: tuple[int, ...] = (1,)
    core_hour: float | None = None
    accepts_other_hosts: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """One parameter set with options of the workload."""

    spec: ParameterSpec
    options: Mapping[str, Value] = field(default_factory=dict)


def wished(workload: AnyWorkload, name: str, asked: WishText, facts: Host) -> Wish:
    """The wish of a reader on a host. Numbers of threads are powers of two up to the cores, or to the limit. Without a
    limit of the error, it is the workload's tolerance.
    """
    most = min(asked.threads or facts.cores, facts.cores)
    threads = tuple(1 << power for power in range(most.bit_length()) if 1 << power <= most)
    link, limits = Link(asked.bandwidth, asked.round_trip or 0.0), asked.limits
    if limits.error is None:
        limits = replace(limits, error=_tolerance(workload))
    return Wish(workload, name, limits, asked.objective, link, threads, asked.core_hour, asked.other_host)


def _tolerance(workload: AnyWorkload) -> float | None:
    """The largest absolute error of a correct result; ``None`` for a workload that judges in another way."""
    is_usual = type(workload).judge is Workload.judge and workload.relative_tolerance is None
    return workload.tolerance if is_usual else None


# --- Candidates -------------------------------------------------------------------------------------------------------


def requests(
    workload: AnyWorkload, scheme: Scheme, declared: Declaration, limits: Limits
) -> Iterator[Request]:
    """The parameter sets and options worth comparing for a library, the recommended ones first: the workload's choices
    and other scales, each in several rings and with several digits of key switching.
    """
    wanted = Override(security=limits.security, security_table=limits.security_table)
    seen: list[Request] = []
    for choice in _choices(workload, scheme, declared, wanted):
        for ring, tuning in product(_rings(workload, choice.spec), _TUNINGS):
            try:
                spec = replace(changed(choice.spec, Override(ring_dimension=ring)), tuning=tuning)
            except Unsupported:  # no plaintext modulus of this size gives slots there
                continue
            request = Request(spec, choice.options)
            if request not in seen and declared.reason_against_tuning(spec) is None:
                seen.append(request)
                yield request


def _choices(
    workload: AnyWorkload, scheme: Scheme, declared: Declaration, wanted: Override
) -> Iterator[Request]:
    own, usual = recommended(workload, scheme, declared, wanted), to_case(workload.options)
    yield Request(own, usual)
    if own.modulus_bits is None:  # also the workload's chain, for a library that would choose its own
        own = changed(workload.roomy_parameters(scheme), wanted)
        yield Request(own, usual)
    first, *others = workload.choices(scheme)
    for choice in others:
        spec = own if choice.parameters == first.parameters else changed(choice.parameters, wanted)
        yield Request(spec, {**usual, **choice.options})
    yield from (Request(spec, usual) for spec in _scales(own))


def _scales(spec: ParameterSpec) -> Iterator[ParameterSpec]:
    """The ckks parameter set with other scales, where all primes but the outer ones have the size of the scale; the
    outer primes keep their distance from it.
    """
    chain, scale = spec.modulus_bits, spec.scale_bits
    if chain is None or scale is None or len(chain) < 3 or {*chain[1:-1]} != {scale}:
        return
    for step in _SCALE_STEPS:
        if scale + step >= _LEAST_SCALE and max(chain) + step <= primes.LARGEST_PRIME_BITS:
            yield replace(spec, scale_bits=scale + step, modulus_bits=tuple(bits + step for bits in chain))


def _rings(workload: AnyWorkload, spec: ParameterSpec) -> Iterator[int]:
    """The requested ring; the smallest one at which the requested primes keep the security level; and the next one, if
    an input takes fewer ciphertexts there: else it has higher costs of each kind.
    """
    yield spec.ring_dimension
    ring = spec.ring_dimension
    if spec.modulus_bits is not None:
        log_qp, ring = sum(spec.modulus_bits), _SMALLEST_RING
        while ring < _LARGEST_RING and not _is_secure(spec, ring, log_qp):
            ring *= 2
        yield ring
    if ring < _LARGEST_RING and _takes_fewer(workload, spec, ring):
        yield 2 * ring


def _takes_fewer(workload: AnyWorkload, spec: ParameterSpec, ring: int) -> bool:
    """Whether an input may take fewer ciphertexts in the ring above."""
    library, counts = registry.load("cleartext"), []
    bits = spec.modulus_bits or workload.roomy_parameters(spec.scheme).modulus_bits
    for size in (ring, 2 * ring):
        try:
            there = changed(replace(spec, modulus_bits=bits), Override(ring_dimension=size, security=0))
            parameters = library.resolve(there)
            own = [workload.input_ciphertexts(stage.name, parameters) for stage in workload.server_stages]
        except Unsupported:
            return size == ring
        counts.append(sum(math.inf if count is None else count for count in own))
    return not counts[0] <= counts[1] < math.inf


def _is_secure(spec: ParameterSpec, ring: int, log_qp: int) -> bool:
    bound = security.limit(spec.security_table, ring, spec.security) if spec.security else math.inf
    return bound is not None and log_qp <= bound


def candidates(wish: Wish, available: Mapping[str, Availability], ask: Predict) -> list[Candidate]:
    """All candidates for a wish, with the prediction of each or the reason why it has none. A variant without a single
    candidate has one with the reason.
    """
    several: list[Candidate] = []
    for variant, availability in available.items():
        for scheme in wish.workload.schemes:
            several += _of_variant(wish, scheme, availability, variant, ask)
    return _comparable(several)


def _comparable(several: Sequence[Candidate]) -> list[Candidate]:
    """The candidates, with costs only where times have the same steps: those that the cost tables lack for all are
    missing in all times, and candidates that lack further ones are not covered.
    """
    lacking = [{*each.missing_steps} for each in several if each.costs is not None]
    common = set.intersection(*lacking) if lacking else set()
    return [
        each
        if each.costs is None or {*each.missing_steps} == common
        else replace(
            each,
            costs=None,
            is_uncovered=True,
            reason=f"the step {', '.join(sorted({*each.missing_steps} - common))}",
        )
        for each in several
    ]


def _of_variant(
    wish: Wish, scheme: Scheme, availability: Availability, variant: str, ask: Predict
) -> Iterator[Candidate]:
    """The candidates of a variant in a scheme. Two requests that a library resolves alike are one candidate."""
    declared, workload = availability.declaration, wish.workload
    try:
        spec = workload.parameters(scheme)
    except Unsupported as error:
        spec = ParameterSpec(scheme, _SMALLEST_RING)
        reason: str | None = str(error)
    else:
        reason = _reason_against(workload, scheme, availability)
    if reason is not None:
        yield Candidate(variant, 1, spec, {}, spec.ring_dimension, spec.modulus_bits, reason=reason)
        return
    seen: list[Candidate] = []
    for request, threads in product(requests(workload, scheme, declared, wish.limits), wish.threads):
        candidate = _predicted(wish, request, variant, threads, declared, ask)
        alike = replace(candidate, request=replace(request.spec, tuning="matched"))
        if candidate.costs is None or alike not in seen:
            seen.append(alike)
            yield candidate


def _reason_against(workload: AnyWorkload, scheme: Scheme, availability: Availability) -> str | None:
    """The reason why no parameter set of a scheme can be executed by a variant here, if any."""
    declared = availability.declaration
    if scheme not in declared.schemes:
        return f"{declared.library} offers no {scheme} here"
    if availability.reason is not None:
        return f"{availability.reason}; {availability.remedy}"
    missing = [name for name in workload.operations(scheme) if not declared.has(name, scheme)]
    if missing:
        return f"{workload.name} needs {', '.join(missing)}: {declared.reason_against(missing[0], scheme)}"
    return None


def _predicted(  # noqa: PLR0913, PLR0917 - what a candidate is made of
    wish: Wish, request: Request, variant: str, threads: int, declared: Declaration, ask: Predict
) -> Candidate:
    spec = request.spec
    bare = Candidate(variant, threads, spec, request.options, spec.ring_dimension, spec.modulus_bits)
    if threads > 1 and not (declared.has_threads or declared.programs_have_threads):
        return replace(bare, reason=f"{declared.library} cannot be given {threads} threads here")
    reason = declared.refusal(spec) or _reason_against_larger_primes(spec, declared)
    if reason is not None:
        return replace(bare, reason=reason)
    try:
        prediction = ask(wish.workload.with_options(request.options), spec, variant, threads)
    except Unsupported as error:
        return replace(bare, reason=str(error))
    except UncoveredError as error:
        return replace(bare, reason=str(error), is_uncovered=True)
    resolved = prediction.parameters
    bare = replace(bare, ring_dimension=resolved.ring_dimension, modulus_bits=resolved.modulus_bits)
    if prediction.is_partial:
        return replace(bare, reason="; ".join(prediction.uncovered), is_uncovered=True)
    accuracy = prediction.precision
    if accuracy is not None and not accuracy.room_bits > MIN_ROOM_BITS:
        return replace(bare, reason=f"values may exceed the modulus: {accuracy.room_bits:.1f} bits of room")
    missing = tuple(sorted({text.partition(":")[0] for text in prediction.uncovered}))
    return replace(bare, costs=costs(prediction, wish.link, wish.core_hour), missing_steps=missing)


def _reason_against_larger_primes(spec: ParameterSpec, declared: Declaration) -> str | None:
    """The refusal of the primes that a library may choose, each up to a bit larger in effect than its refusal assumes:
    of a request without that room it tells when it runs. The first prime of the asked chain has all of the room.
    """
    if not declared.chooses_primes or spec.modulus_bits is None or len(spec.modulus_bits) < 2:
        return None
    first, *rest = spec.modulus_bits
    larger = min(first + len(spec.modulus_bits), primes.LARGEST_PRIME_BITS)
    reason = declared.refusal(replace(spec, modulus_bits=(larger, *rest)))
    return f"{declared.library} may choose larger primes: {reason}" if reason else None


def costs(prediction: Prediction, link: Link, core_hour: float | None = None) -> Costs:
    """The costs of a prediction over a link, with the price of the server's cores."""
    latency, parameters = (
        prediction.end_to_end(link.bandwidth or math.inf, link.round_trip_s),
        prediction.parameters,
    )
    alone, accuracy = prediction.end_to_end(math.inf, 0.0), prediction.precision
    price = None if core_hour is None else core_hour / 3600 * prediction.threads
    return Costs(
        latency_s=latency,
        evaluation_s=prediction.evaluation,
        transfer_s=latency.value - alone.value,
        client_memory_bytes=prediction.client_memory_bytes,
        server_memory_bytes=prediction.server_memory_bytes,
        upload_bytes=prediction.upload_bytes,
        download_bytes=prediction.download_bytes,
        key_bytes=prediction.key_bytes,
        security_2018=parameters.security_2018,
        security_2024=parameters.security_2024,
        log_qp=parameters.log_qp,
        operations_s=operations_of((share.operation, share.seconds) for share in prediction.shares),
        error=accuracy.error if accuracy else None,
        budget_bits=_budget(accuracy) if accuracy else None,
        price=None if price is None else _times(prediction.evaluation, price),
    )


def _budget(accuracy: Precision) -> Quantity | None:
    """The noise budget, from what remains but for one decryption of 10⁹."""
    budget = accuracy.budget_bits
    return None if budget is None else Quantity(budget.value, accuracy.safe_bits, budget.high)


def _times(quantity: Quantity, factor: float) -> Quantity:
    return Quantity(quantity.value * factor, quantity.low * factor, quantity.high * factor)


def answered(wish: Wish, several: Sequence[Candidate], notes: Sequence[str] = ()) -> dict[str, Any]:
    """The answer as JSON values, which tables, pages and the route of advice share. Each point has the text of its
    ``suite``. ``notes`` are on the cost table; infinite numbers are null.
    """
    advice = advise(several, wish.limits, wish.objective)
    answer = {
        "workload": wish.name,
        "objective": wish.objective,
        "limits": wish.limits,
        "link": wish.link,
        "notes": list(notes),
        "candidates": several,
        "points": advice.points,
        "left_out": advice.left_out,
        "nearest": advice.nearest,
    }
    decoded: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(answer))
    for place, point in enumerate(decoded["points"], 1):
        point["suite"] = suite(f"advice-{place}", wish, [several[point["index"]]])
    return decoded


# --- Predictions from the cost tables of this host --------------------------------------------------------------------


class UncoveredError(Exception):
    """There is no cost table for a variant; the text is the remedy."""


class Predictor:
    """Predicts from cost tables by variant; a text is the reason why there is none. Traces each program once for all
    numbers of threads, all libraries with equal operations, and tunings that change nothing.
    """

    def __init__(self, tables: Mapping[str, CostTable | str]) -> None:
        self._tables = {
            variant: table if isinstance(table, str) else interpolation.Costs(table)
            for variant, table in tables.items()
        }
        self._programs: dict[object, tuple[Any, Programs]] = {}
        self._predictions: dict[object, Prediction] = {}
        self._precisions: dict[object, Precision | None] = {}

    def __call__(self, workload: AnyWorkload, spec: ParameterSpec, variant: str, threads: int) -> Prediction:
        """See :data:`Predict`. Raises ``Unsupported`` and :class:`UncoveredError`."""
        table = self._tables[registry.base_variant(variant)]
        if isinstance(table, str):
            raise UncoveredError(table)
        declared = registry.declaration(variant)
        parameters = predicting.resolved(workload, declared, spec)
        key = _program_key(workload, parameters, declared)
        place = key, variant, threads
        if place not in self._predictions:
            self._predictions[place] = self._predicted(key, workload, parameters, declared, table, threads)
        return self._predictions[place]

    def _predicted(  # noqa: PLR0913, PLR0917 - what a prediction is of
        self,
        key: object,
        workload: AnyWorkload,
        parameters: Parameters,
        declared: Declaration,
        table: interpolation.Costs,
        threads: int,
    ) -> Prediction:
        if key not in self._programs:
            given = workload.input(SEED, DATA_SETS[DATA_SET]() if workload.takes_data else None)
            self._programs[key] = given, all_traced(workload, given, parameters, declared)
        given, programs = self._programs[key]
        prediction = predict(predicting.subject_of(workload, given, programs, declared), table, threads)
        if prediction.is_partial:
            return prediction
        key = (key, repr(declared.noise), sends_seeded(workload, declared))
        if key not in self._precisions:
            self._precisions[key] = predicting.accuracy(workload, programs, given, declared)
        return replace(prediction, precision=self._precisions[key])


def _program_key(workload: AnyWorkload, parameters: Parameters, declared: Declaration) -> object:
    """What identifies the programs of a workload and their costs; of a tuning, only the key switching matters."""
    scheme = parameters.spec.scheme
    form = declared.operations[scheme], declared.managed[scheme], declared.drives_levels(scheme)
    untuned = replace(parameters, spec=replace(parameters.spec, tuning="matched"))
    return repr((workload.name, workload.options, untuned, switching(declared, parameters), form))


def predictor(
    database: Database, wish: Wish, facts: Host, but_of: str | None = None
) -> tuple[Predictor, list[str]]:
    """A predictor from this host's cost tables of the wanted libraries, without the results of the run ``but_of``; and
    remarks on the tables. They state where the clock has changed since.
    """
    kernel_s = reference_kernel_baseline.now_s()
    tables: dict[str, CostTable | str] = {}
    for variant in installed(wish.limits, frozenset(facts.cpu_flags)):
        name = registry.base_variant(variant)
        try:
            tables[name] = predicting.cost_table(
                database,
                facts,
                name,
                accepts_other_hosts=wish.accepts_other_hosts,
                reference_kernel_s=kernel_s,
                but_of=but_of,
            )
        except UserError as error:
            tables[name] = str(error)
    remarks = (text for table in tables.values() if not isinstance(table, str) for text in table.remarks)
    return Predictor(tables), list(dict.fromkeys(remarks))


# --- Suites of points -------------------------------------------------------------------------------------------------


def suite(name: str, wish: Wish, several: Sequence[Candidate]) -> str:
    """The text of a suite that measures candidates: an experiment for each, with exactly its parameters."""
    return suite_of(name, [experiment(wish, candidate) for candidate in several], _BUDGET)


def suite_of(name: str, experiments: Sequence[Mapping[str, Any]], budget: Mapping[str, Any]) -> str:
    """The text of a suite of experiments."""
    document = {"name": name, "budget": dict(budget), "experiments": [*experiments]}
    stream = io.StringIO()
    yaml = YAML()
    yaml.width = 110
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.default_flow_style = None  # lists of values on a line
    yaml.dump(document, stream)
    return stream.getvalue()


def experiment(wish: Wish, candidate: Candidate) -> dict[str, Any]:
    """The experiment of a suite that measures a candidate."""
    spec, workload = candidate.request, wish.workload
    level: Any = spec.security or "none"
    if spec.security and spec.security_table != security.OLDEST:
        level = {"bits": spec.security, "table": spec.security_table}
    own = to_case(workload.Options())
    options = {key: [value] for key, value in candidate.options.items() if own.get(key) != value}
    lines: dict[str, Any] = {
        "kind": workload.family,
        "workloads": [wish.name],
        "variants": [candidate.variant],
        "data_sets": [DATA_SET] if workload.takes_data else None,
        "options": options or None,
        "schemes": [spec.scheme],
        "ring_dimension": [spec.ring_dimension],
        "modulus_bits": None if spec.modulus_bits is None else list(spec.modulus_bits),
        "scale_bits": spec.scale_bits if spec.scheme == "ckks" else None,
        "plain_modulus": None if spec.plain_modulus is None else {"value": spec.plain_modulus},
        "threads": [candidate.threads],
        "tuning": spec.tuning,
        "security": level,
    }
    return {key: value for key, value in lines.items() if value is not None}


def installed(limits: Limits, flags: frozenset[str]) -> dict[str, Availability]:
    """The variants to compare: the libraries of the limits, else all that are not for reference. Raises ``UserError``
    for an unknown library.
    """
    names = limits.libraries or tuple(
        name for name, declared in registry.declarations().items() if not declared.is_reference
    )
    there = {name: registry.availability(name, flags) for name in names}
    if not there:
        raise UserError("no library is known here")
    return there


# --- Predictions against measurements ---------------------------------------------------------------------------------


def verified(several: Sequence[Candidate], outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Predicted against measured costs of candidates, in their order: a row for each cost. ``outcomes`` are those of
    their suite. A candidate that was not measured has a row with the status.
    """
    rows: list[dict[str, Any]] = []
    for place, candidate in enumerate(several, 1):
        own = [outcome for outcome in outcomes if _is_of(candidate, outcome)]
        correct = [outcome for outcome in own if outcome.status == "ok"]
        status = own[0].status if own else "not measured"
        about = {"place": place, "variant": candidate.variant, "status": status}
        is_disturbed = _is_disturbed(correct)
        for cost, unit, predicted, measured in _pairs(candidate, correct):
            rows.append(
                about
                | {"cost": cost, "unit": unit, "measured": measured if correct else None}
                | {"is_disturbed": is_disturbed and unit == "s"}
                | {"predicted": predicted.value, "low": predicted.low, "high": predicted.high}
            )
    return rows


def _is_disturbed(outcomes: Sequence[Outcome]) -> bool:
    """Whether other processes had the core in all evaluations that count."""
    samples = [sample for outcome in outcomes for sample in outcome.samples if not sample.is_warmup]
    evaluations = [sample for sample in samples if (sample.metric, sample.step) == ("time", _EVALUATE)]
    return bool(evaluations) and all(sample.is_disturbed for sample in evaluations)


def _is_of(candidate: Candidate, outcome: Outcome) -> bool:
    case = outcome.trial.case
    mine = (candidate.variant, candidate.threads, candidate.request, dict(candidate.options))
    return mine == (case.variant, case.threads, case.parameters, of_case(case.dimensions))


def _pairs(
    candidate: Candidate, outcomes: Sequence[Outcome]
) -> Iterator[tuple[str, str, Quantity, float | None]]:
    """Each cost of a candidate: its name and unit, the prediction, and the measured value."""
    own = candidate.costs
    assert own is not None
    samples = [sample for outcome in outcomes for sample in outcome.samples if not sample.is_warmup]
    sizes = [sample for sample in samples if sample.metric == "size"]
    memory = [
        sample.value for sample in samples if sample.metric == "peak_memory" and sample.party == "server"
    ]
    passes = [sample for sample in sizes if sample.stage != messages.PREPARE]
    keys = [sample.value for sample in sizes if sample.stage == messages.PREPARE]
    yield "evaluation", "s", own.evaluation_s, _seconds(samples, lambda step: step == _EVALUATE)
    transfer = own.transfer_s
    alone = Quantity(
        *(end - transfer for end in (own.latency_s.value, own.latency_s.low, own.latency_s.high))
    )
    yield "all steps", "s", alone, _seconds(samples, lambda step: step not in (*_NO_STEPS, None))
    for cost, value, measured in (
        ("server memory", own.server_memory_bytes, max(memory, default=None)),
        ("upload", own.upload_bytes, _bytes(passes, None)),
        ("download", own.download_bytes, _bytes(passes, messages.RETURNED)),
        ("keys", own.key_bytes, max(keys, default=None)),
    ):
        if value is not None:
            yield cost, "bytes", Quantity(value, value, value), measured
    if own.error is not None:
        errors = [outcome.accuracy.max_abs_error for outcome in outcomes if outcome.accuracy is not None]
        yield "largest error", "", own.error, max(errors, default=None)


def _seconds(samples: Sequence[Sample], is_wanted: Callable[[str | None], bool]) -> float | None:
    """The sum of the medians of the wanted steps of a pass; ``None`` without any."""
    steps: dict[tuple[str, str | None], list[Sample]] = {}
    for sample in samples:
        if sample.metric == "time" and sample.stage != messages.PREPARE and is_wanted(sample.step):
            steps.setdefault((sample.stage, sample.step), []).append(sample)
    return sum(median(counted(own)) for own in steps.values()) if steps else None


def _bytes(sizes: Sequence[Sample], step: str | None) -> float | None:
    """The bytes of all stages in one direction; ``None`` without any."""
    stages = {sample.stage: sample.value for sample in sizes if sample.step == step}
    return sum(stages.values()) if stages else None
