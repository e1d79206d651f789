"""Cost tables from the database, and predictions of workloads from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

from ciphermark_adapters import registry
from ciphermark_contract.declaration import Declaration
from ciphermark_contract.operations import OPERATIONS, Shape, read, top_level
from ciphermark_core.errors import Exhausted, Unsupported, UserError
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_core.run import Host
from ciphermark_db.database import Database
from ciphermark_measure import levels, precision
from ciphermark_model.interpolation import Costs
from ciphermark_model.precision import Precision
from ciphermark_model.prediction import Prediction, StageSubject, Subject, predict
from ciphermark_model.reuse import digits_in_use
from ciphermark_model.table import Cost, CostTable, Key
from ciphermark_workloads import user_workloads
from ciphermark_workloads.data_sets import DATA_SETS
from ciphermark_workloads.parameters import NOTHING, Override, recommended, sends_seeded
from ciphermark_workloads.programs import Programs, all_traced, keys_of
from ciphermark_workloads.workload import AnyWorkload

_DATA_SET, _SEED = "boston", 1  # of workloads that take data; of inputs
# Relative half-width of a median without an interval.
_UNKNOWN = 0.2
_Rows: TypeAlias = Sequence[Mapping[str, Any]]
_INSIDE = 0.2  # relative, of an operation of the wrapped library
_OTHER_HOST = 0.5  # added to the relative half-width for a table of another host
_SAME_CLOCK = 0.03  # relative difference of the reference kernel
_SERIALIZATION = ("dump", "load", "dump_seeded", "load_seeded")


def cost_table(  # noqa: PLR0913 - what a table is of
    database: Database,
    host: Host,
    variant: str,
    *,
    accepts_other_hosts: bool = False,
    reference_kernel_s: float | None = None,
    but_of: str | None = None,
) -> CostTable:
    """The cost table of a variant, from all runs with costs at levels on this host. The least disturbed median of a
    cost counts: of disturbed ones the smallest, of undisturbed ones the latest. Medians of the latest build come before
    others. Costs of earlier builds are marked.

    Without any cost of this host, raises ``UserError``; with ``accepts_other_hosts`` the costs of the host that was
    measured last count, which is stated and widens intervals.

    ``reference_kernel_s`` is the present time of the reference kernel. Where it differs by more than 3% from that of
    the measurements, the clock has changed: costs are scaled by it, which is stated and widens intervals. Costs of the
    run ``but_of``, whose results are predicted, and the errors of its predictions do not count.
    """
    variant = registry.base_variant(variant)
    rows = _rows(database, variant, but_of)
    own: _Rows = [row for row in rows if row["fingerprint"] == host.fingerprint]
    remarks, widening = list[str](), 0.0
    if not own:
        own = _of_another_host(variant, rows, is_accepted=accepts_other_hosts)
        remarks.append(f"costs were measured on another host, {own[-1]['hostname']}: intervals are wider")
        widening += _OTHER_HOST
    change = _change(own, reference_kernel_s)
    if change != 1:
        remarks.append(
            f"the CPU's reference kernel takes {change:.2f} times as long as when costs were measured: they are scaled "
            "by it, and intervals are wider; calibrate again"
        )
        widening += abs(change - 1)
    record = database.report(
        "prediction_residuals", variant=variant, fingerprint=host.fingerprint, but_of=but_of
    )
    table = _table(variant, own, change)
    return replace(
        table,
        entries={**_inside(database, table, change, but_of), **table.entries},
        residuals=tuple(row["residual"] for row in record),
        remarks=tuple(remarks),
        widening=widening,
    )


def _rows(database: Database, variant: str, but_of: str | None) -> _Rows:
    return [row for row in database.report("cost_table", variant=variant) if row["run_id"] != but_of]


def _inside(database: Database, table: CostTable, factor: float, but_of: str | None) -> dict[Key, Cost]:
    """Costs of maintenance without keys, such as rescaling, that a library has only inside of other operations: those
    of the library that it wraps, 20% wider, since the builds differ.
    """
    declared = registry.declaration(table.variant)
    rows = [] if declared.wraps is None else _rows(database, declared.wraps, but_of)
    costs: dict[Key, Cost] = {}
    for row in rows:
        name = row["operation"].partition("(")[0]
        offered = declared.operations.get(row["scheme"])
        is_inside = row["stage"] == "evaluate" and offered is not None and name not in offered
        if row["fingerprint"] == table.host and is_inside and OPERATIONS[name].is_maintenance:
            cost = _cost(row, row["build_id"]).scaled(factor)
            wide = replace(cost, low=(1 - _INSIDE) * cost.low, high=(1 + _INSIDE) * cost.high)
            costs |= {key: wide for key in _keys(table, row) if not key.digits}
    return costs


def _of_another_host(variant: str, rows: _Rows, *, is_accepted: bool) -> _Rows:
    """The rows of the host that was measured last; raises ``UserError`` unless they are accepted."""
    others = sorted({str(row["hostname"]) for row in rows})
    if not others or not is_accepted:
        known = f"; costs exist of {', '.join(others)} (--other-host)" if others else ""
        raise UserError(f"no cost table on this host: ciphermark calibrate --variant {variant}{known}")
    other = max(rows, key=_moment)
    return [row for row in rows if row["fingerprint"] == other["fingerprint"]]


def _table(variant: str, rows: _Rows, factor: float) -> CostTable:
    """The costs of a host, times a factor, those of the latest build last."""
    last = max(rows, key=_moment)
    build = last["build_id"]
    empty = CostTable(last["fingerprint"], variant, str(build), {}, sees_prime_sizes=bool(last["hexl"]))
    ordered = sorted(rows, key=lambda row: row["build_id"] == build)
    entries = {key: _cost(row, build).scaled(factor) for row in ordered for key in _keys(empty, row)}
    return replace(empty, entries=entries, caches=last["caches_bytes"])


def _moment(row: Mapping[str, Any]) -> Any:
    return row["started_at"]


def _change(rows: _Rows, now_s: float | None) -> float:
    """The present time of the reference kernel in those of the measurements; 1 for one that does not differ."""
    measured = [float(row["reference_kernel_s"]) for row in rows if row["reference_kernel_s"]]
    change = now_s / median(measured) if now_s and measured else 1.0
    return change if abs(change - 1) > _SAME_CLOCK else 1.0


def _cost(row: Mapping[str, Any], build: object) -> Cost:
    value = float(row["median"])
    low, high = row["ci_low"], row["ci_high"]
    if low is None or high is None:
        low, high = value * (1 - _UNKNOWN), value * (1 + _UNKNOWN)
    return Cost(value, float(low), float(high), int(row["n"]), row["build_id"] != build)


def _keys(table: CostTable, row: Mapping[str, Any]) -> Iterator[Key]:
    """The cost that a row measures; none for a client's step in a chain whose form of results is unknown."""
    bits = list(row["modulus_bits"])
    special = row["special_primes"] or 0
    data, special_bits = bits[: len(bits) - special], bits[len(bits) - special :]
    stage, level = row["stage"], row["level"]
    if stage in _SERIALIZATION and row["operation"] != registry.declaration(table.variant).compressions[0]:
        return  # parties send in another form
    top = _top(row, data)
    lowest = len(data) - top
    if stage == "evaluate":
        call = read(row["operation"])
        count = max(call.count, len(call.arguments) if call.operation.has_several_results else 1)
        primes = lowest + (top if level is None else level)
        digits = digits_in_use(primes, len(data), row["decomposition_digits"] or 1)
        yield table.key(
            call.name,
            row["scheme"],
            row["ring_dimension"],
            data[:primes],
            special_bits,
            digits,
            count=count,
            threads=row["threads"],
            residency=row["residency"],
        )
    elif row["threads"] == 1:
        form = _result_form(row["operation"], level, shaped(row)) if stage == "decrypt" else Shape(top)
        if form is not None:
            count = form.polynomials if stage == "decrypt" else 1
            yield table.key(
                stage, row["scheme"], row["ring_dimension"], data[: lowest + form.level], count=count
            )


def shaped(row: Mapping[str, Any]) -> Parameters:
    """Parameters with moduli of a row's sizes, from which levels and shapes follow."""
    return _parameters_of(
        row["scheme"],
        row["ring_dimension"],
        tuple(row["modulus_bits"]),
        row["special_primes"] or 0,
        None if row["plain_modulus"] is None else int(row["plain_modulus"]),
        row["scale"],
    )


@lru_cache(256)
def _parameters_of(  # noqa: PLR0913, PLR0917 - what a row has of a parameter set
    scheme: Scheme, ring: int, bits: tuple[int, ...], special: int, t: int | None, scale: float | None
) -> Parameters:
    moduli = tuple((1 << size) - 1 for size in bits)
    count = len(bits) - special
    spec = ParameterSpec(scheme, ring, bits, t, security=0)
    return Parameters(spec, ring, moduli[:count], moduli[count:], spec.slots, t, scale)


def _top(row: Mapping[str, Any], data: Sequence[int]) -> int:
    return top_level(shaped(row)) if data else 0


@lru_cache(4096)
def _result_form(operation: str, level: int | None, parameters: Parameters) -> Shape | None:
    """Level and polynomials of an operation's result; ``None`` for one that has none."""
    with suppress(Exhausted, ValueError):
        at = top_level(parameters) if level is None else level
        return levels.result_shape(read(operation), parameters, at)
    return None


def resolved(workload: AnyWorkload, declared: Declaration, request: ParameterSpec) -> Parameters:
    """The parameters of a request, with the largest primes of the requested sizes, without loading the library.

    Raises ``Unsupported`` for a request that the library refuses, and for primes that only the library knows.
    """
    reason = declared.refusal(request)
    if reason is not None:
        raise Unsupported(reason)
    sizes = request.modulus_bits or declared.default_chain(request)
    if sizes is None:
        raise Unsupported(f"{workload.name}: only {declared.library} knows the primes of its default chain")
    return registry.load("cleartext").resolve(replace(request, modulus_bits=sizes))


def predicted(  # noqa: PLR0913 - what a prediction is of
    workload: AnyWorkload,
    request: ParameterSpec | None,
    variant: str,
    table: CostTable | Costs,
    threads: int = 1,
    *,
    scheme: Scheme | None = None,
    override: Override = NOTHING,
    given: Any = None,
) -> Prediction:
    """The predicted costs and precision of one input of a workload: see :func:`traced`."""
    declared = registry.declaration(variant)
    given, programs = traced(workload, request, declared, scheme=scheme, override=override, given=given)
    prediction = predict(subject_of(workload, given, programs, declared), table, threads)
    return replace(prediction, precision=accuracy(workload, programs, given, declared))


def accuracy(
    workload: AnyWorkload, programs: Programs, given: Any, declared: Declaration
) -> Precision | None:
    """The accuracy of the outputs; ``None`` for programs and libraries outside the model of noise."""
    try:
        return precision.predicted(workload, programs, given, _parameters(programs), declared)
    except Unsupported:
        return None


def subject(workload: AnyWorkload, request: ParameterSpec, variant: str) -> Subject:
    """The subject of predictions for an input of seed 1: see :func:`traced`."""
    declared = registry.declaration(variant)
    return subject_of(workload, *traced(workload, request, declared), declared)


def traced(  # noqa: PLR0913 - what a program is of
    workload: AnyWorkload,
    request: ParameterSpec | None,
    declared: Declaration,
    *,
    scheme: Scheme | None = None,
    override: Override = NOTHING,
    given: Any = None,
) -> tuple[Any, Programs]:
    """An input of a workload, by default one of seed 1, and the programs for it. Without a request, the recommended
    parameters count, with the changes of ``override``.

    Raises ``Unsupported`` where the variant cannot execute the workload.
    """
    if request is None:
        workload.require_scheme(scheme := scheme or _first_common(workload, declared))
        request = recommended(workload, scheme, declared, override)
    parameters = resolved(workload, declared, request)
    if given is None:
        data = DATA_SETS[_DATA_SET]() if workload.takes_data else None
        given = workload.input(_SEED, data)
    return given, all_traced(workload, given, parameters, declared)


def subject_of(workload: AnyWorkload, given: Any, programs: Programs, declared: Declaration) -> Subject:
    """The subject of a prediction: a workload's traced programs for an input."""
    parameters = _parameters(programs)
    requested = workload.keys(parameters)
    stages = tuple(
        StageSubject(
            name,
            item.program,
            len(workload.vectors(name, given, parameters)),
            workload.stage(name).returns == "result",
        )
        for name, item in programs.items()
    )
    sizes = tuple(vector.nbytes for item in programs.values() for vector in item.traced.constants.values())
    return Subject(
        declared,
        stages,
        keys_of(programs.values()) if requested is None else requested,
        sizes,
        workload.server_bytes(parameters),
        sends_seeded(workload, declared),
    )


def _parameters(programs: Programs) -> Parameters:
    return next(iter(programs.values())).program.parameters


def _first_common(workload: AnyWorkload, declared: Declaration) -> Scheme:
    common = [scheme for scheme in workload.schemes if scheme in declared.schemes]
    if not common:
        raise Unsupported(f"{declared.library} has none of the schemes of {workload.name}")
    return common[0]


def contained(name: str, workload: AnyWorkload, *arguments: Any, **settings: Any) -> Prediction:
    """As :func:`predicted`; a workload of a user's file is traced by another process, within limits."""
    if not user_workloads.is_own(name):
        return predicted(workload, *arguments, **settings)
    path = Path(name.partition(":")[0])
    return user_workloads.asked(path, lambda: predicted(workload, *arguments, **settings)).value
