"""Predicts refusals of a library without loading it and without starting a party.

Parameters: requests without a solution, and operations without keys. For a library that takes primes of the requested
sizes, ``cleartext`` resolves the request in the same way. For a library that chooses its primes, only its declaration
counts, and whether the data primes alone are too many. A run reports the rest.

Programs: workloads are traced, since levels follow from the sizes of primes, which are as many for every library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ciphermark_adapters import registry
from ciphermark_adapters.registry import Availability
from ciphermark_benchmark.data_sets import Known
from ciphermark_benchmark.predicting import subject_of
from ciphermark_benchmark.suite import typical
from ciphermark_benchmark.suite.typical import Source
from ciphermark_contract.declaration import Declaration
from ciphermark_contract.footprint import PartyBytes
from ciphermark_contract.keys import KeyRequest
from ciphermark_contract.operations import OPERATIONS, read, within_row
from ciphermark_core.budget import Budget
from ciphermark_core.containment import Limits, contained
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import Case, Parameters, ParameterSpec
from ciphermark_measure import parameter_selection
from ciphermark_measure.parameter_selection import reason_against_operation, resolved
from ciphermark_measure.parties.inputs import shared_public
from ciphermark_model.interpolation import Costs
from ciphermark_model.prediction import Subject, predict, returned
from ciphermark_workloads import user_workloads
from ciphermark_workloads.catalogue import AnyWorkload
from ciphermark_workloads.data_sets import DATA_SETS, DataSet
from ciphermark_workloads.options import INPUTS_PER_PASS
from ciphermark_workloads.programs import all_traced, keys_of

_DEEPEST = 256  # longer chains are slow to make, and secure at no ring dimension


class _OnlyTheLibraryKnowsError(Exception):
    """The resolution of the request depends on the library, which does not declare it."""


def reason_against_variant(case: Case, available: Availability, has_threads: bool) -> str | None:
    """The reason why a variant can execute no case of this scheme, tuning and number of threads here, if any."""
    declared, scheme = available.declaration, case.parameters.scheme
    if scheme not in declared.schemes:
        return f"{declared.library} offers no {scheme} here"
    if available.reason is not None:
        return f"{available.reason}; {available.remedy}"
    if case.threads > 1 and not has_threads:
        return f"{declared.library} cannot be given {case.threads} threads here"
    return declared.reason_against_tuning(case.parameters)


class ParameterFeasibility:
    """Predicts parameters and refusals; caches requests, also across libraries with equal declarations."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Parameters | str | None] = {}
        self._estimates: dict[tuple[object, ...], Parameters | None] = {}

    def expected(self, case: Case, declared: Declaration) -> Parameters | None:
        """The parameters of a case. For a library that chooses its primes, the ring and the requested sizes; it may
        choose larger ones. ``None`` if nothing is known.
        """
        key = (case.parameters, declared.refusal, declared.default_chain)
        if key not in self._estimates:
            estimate = _resolved(case.parameters, replace(declared, chooses_primes=False))
            self._estimates[key] = estimate if isinstance(estimate, Parameters) else None
        return self._estimates[key]

    def reason_against(self, case: Case, declared: Declaration) -> str | None:
        """The reason why a case cannot be executed; ``None`` if none is known."""
        spec = case.parameters
        key = (spec, declared.refusal, declared.default_chain, declared.chooses_primes)
        if key not in self._known:
            self._known[key] = _resolved(spec, declared)
        resolution = self._known[key]
        if isinstance(resolution, str) or case.operation.partition("(")[0] not in OPERATIONS:
            return resolution if isinstance(resolution, str) else None
        if resolution is None:  # only the library knows the ring: assume the largest
            return read(case.operation).reason_at(parameter_selection.rings(spec)[-1])
        return reason_against_operation(case.operation, resolution)


def _resolved(spec: ParameterSpec, declared: Declaration) -> Parameters | str | None:
    """The parameters, or the reason why there are none; ``None`` if only the library knows."""
    reason = declared.refusal(spec)
    if reason is not None or (spec.depth or 0) > _DEEPEST:
        return reason
    try:
        return resolved(_AsAsked(declared), spec)
    except Unsupported as error:
        return str(error)
    except _OnlyTheLibraryKnowsError:
        return None


@dataclass(frozen=True, slots=True)
class _AsAsked:
    """Resolves requests as a library that takes the largest primes of the requested sizes; for other libraries, by
    their declarations.
    """

    declared: Declaration

    def resolve(self, spec: ParameterSpec) -> Parameters:
        """See :class:`ciphermark_measure.parameter_selection.Resolver`."""
        reason = self.declared.refusal(spec)
        if reason is not None:
            raise Unsupported(reason)
        if self.declared.chooses_primes:
            raise _OnlyTheLibraryKnowsError
        sizes = spec.modulus_bits
        if sizes is None and spec.scheme != "ckks":
            sizes = self.declared.default_chain(spec)
            if sizes is None:
                raise _OnlyTheLibraryKnowsError
        return registry.load("cleartext").resolve(replace(spec, modulus_bits=sizes))


T = TypeVar("T")
NO_COSTS: Mapping[str, Costs] = {}
Floats = npt.NDArray[np.float64]

_SEED = 1
_ROWS = 500  # of a substitute for absent data: more rows add ciphertexts, not depth
DEADLINE_S = 10.0  # ten times the time of the largest program
# Kinds of keys, and their uses.
_KEYS = {
    "rotations": "rotations",
    "automorphisms": "automorphisms",
    "switching": "another secret key",
    "bootstrapping": "bootstrapping",
}


_PASS_S = 0.01  # of every pass in addition: messages, tracing, comparing


class PassTime(NamedTuple):
    """Seconds of a pass of a workload, and what they rest on."""

    seconds: float
    source: Source


class Examination(NamedTuple):
    """The reason why a case of a workload cannot be executed, else the typical time of a pass, and those by variant
    with a cost table; the memory of the parties, ``None`` if unknown; and bytes of evaluation keys.
    """

    reason: str | None = None
    typical_s: float | None = None
    times: Mapping[str, PassTime] = {}
    memory: PartyBytes | None = None
    key_bytes: int = 0

    def pass_time(self, variant: str) -> PassTime | None:
        """The time of a pass of a variant; ``None`` if it is unknown."""
        own = self.times.get(registry.base_variant(variant))
        if own is not None or self.typical_s is None:
            return own
        return PassTime(typical.share(registry.declaration(variant)) * self.typical_s, "typical times")


class ProgramFeasibility:
    """Predicts refusals and times of workloads; caches results. A copy of this process traces a workload from a user's
    file, since it may loop or crash; the parties report such failures.
    """

    def __init__(
        self,
        deadline_s: float = DEADLINE_S,
        memory_mb: int = Budget().memory_mb,
        costs: Mapping[str, Costs] = NO_COSTS,
    ) -> None:
        self._limits, self._costs = Limits(deadline_s, memory_mb), costs
        self._known: dict[tuple[object, ...], Examination] = {}
        self._memory: dict[tuple[object, ...], int | None] = {}
        self._endless: set[str] = set()

    def examined(
        self, workload: AnyWorkload, case: Case, declared: Declaration, data: Known | None
    ) -> Examination:
        """The known facts of a case of the workload."""
        has_several_inputs = INPUTS_PER_PASS.of(case.dimensions) is not None
        abilities = (
            declared.library,
            declared.operations.get(case.parameters.scheme),
            declared.manages_levels,
            declared.chooses_primes,
            declared.footprint,
        )  # builds of a library share them
        threads = case.threads if self._costs else None
        key = (workload.name, workload.options, case.parameters, abilities, data, has_several_inputs, threads)
        if key not in self._known:
            costs = {
                name: each
                for name, each in self._costs.items()
                if registry.declaration(name).library == declared.library
            }
            examination = self._asked(workload, lambda: _examination(workload, case, declared, data, costs))
            self._known[key] = examination or Examination()
        return self._known[key]

    def server_mb(self, workload: AnyWorkload, case: Case) -> int | None:
        """The rough memory of the server besides keys and ciphertexts, in MiB; ``None`` if unknown. Creates none of the
        server's data.
        """
        key = (workload.name, workload.options, case.parameters)
        if key not in self._memory:
            self._memory[key] = self._asked(workload, lambda: _server_mb(workload, case))
        return self._memory[key]

    def _asked(self, workload: AnyWorkload, ask: Callable[[], T | None]) -> T | None:
        if not user_workloads.is_in_file(type(workload).__module__):
            return ask()
        if workload.name in self._endless:
            return None
        try:
            return contained(ask, self._limits).value
        except (TimeoutError, MemoryError):
            self._endless.add(workload.name)
        except Exception:  # whatever the workload raises, its trial reports it
            return None
        return None


def _examination(
    workload: AnyWorkload,
    case: Case,
    declared: Declaration,
    data: Known | None,
    costs: Mapping[str, Costs],
) -> Examination:
    try:
        parameters = _expected_parameters(case.parameters)
        if parameters is None:
            return Examination()
        outline = workload.outline(parameters)
        inputs = _inputs(outline, case, data)
        for stage in outline.stages:
            shared_public(outline, stage.name, inputs, parameters)
        programs = all_traced(outline, inputs[0], parameters, declared)
        requested = workload.keys(parameters)
    except Unsupported as error:
        where = user_workloads.innermost(error)
        return Examination(f"{where}: {error}" if where else str(error))
    except Exception:  # whatever the workload raises, its trial reports it
        return Examination()
    needed = keys_of(programs.values()) if requested is None else requested
    reason = _reason_against_keys(needed, parameters, declared) or _reason_against_chain(parameters, declared)
    stored = workload.server_bytes(parameters)
    subject = replace(subject_of(outline, inputs[0], programs, declared), keys=needed, stored_bytes=stored)
    return Examination(
        reason,
        _PASS_S + _typical_s(subject),
        {
            name: _time(replace(subject, declared=registry.declaration(name)), each, case.threads)
            for name, each in costs.items()
        },
        subject.memory,
        subject.key_bytes,
    )


def _time(subject: Subject, costs: Costs, threads: int) -> PassTime:
    """The prediction; where the table lacks a cost of the evaluation, the typical time, scaled by the table."""
    prediction = predict(subject, costs, threads)
    share, source = typical.scaled_share(subject.declared, costs)
    if prediction.is_partial:
        return PassTime(_PASS_S + share * _typical_s(subject), source)
    own = {step: 0.0 for _, _, step in prediction.times_s}
    for (_, _, step), quantity in prediction.times_s.items():
        own[step] += quantity.value
    client_s = sum(own.get(step, share * seconds) for step, seconds in _client_s(subject).items())
    return PassTime(_PASS_S + prediction.evaluation.value + client_s, "cost tables")


def _typical_s(subject: Subject) -> float:
    evaluation_s = sum(
        typical.evaluation_s(stage.program, subject.switching.digits) for stage in subject.stages
    )
    return evaluation_s + sum(_client_s(subject).values())


def _client_s(subject: Subject) -> dict[str, float]:
    """Typical seconds of the client's steps."""
    shape = subject.parameters.ring_dimension, len(subject.parameters.moduli)
    inputs = sum(stage.inputs for stage in subject.stages)
    outputs = sum(len(returned(stage)) for stage in subject.stages)
    return {"encrypt": inputs * typical.encrypt_s(*shape), "decrypt": outputs * typical.decrypt_s(*shape)}


def _expected_parameters(spec: ParameterSpec) -> Parameters | None:
    """The parameters with the largest primes of the requested sizes; ``None`` if they depend on a library's default."""
    if spec.modulus_bits is None and spec.scheme != "ckks":
        return None
    return registry.load("cleartext").resolve(spec)


def _inputs(workload: AnyWorkload, case: Case, data_set: Known | None) -> list[Any]:
    """A sample of the inputs: one, or two to represent several."""
    data = None if data_set is None else _data(data_set)
    return [workload.input(_SEED + i, data) for i in range(min(2, INPUTS_PER_PASS.of(case.dimensions) or 1))]


def _data(data_set: Known) -> DataSet:
    """A data set, or random numbers of its shape if it is not shipped, since programs depend only on shapes."""
    if data_set.name in DATA_SETS:
        return DATA_SETS[data_set.name]()
    rows, columns = min(data_set.rows, _ROWS), tuple(f"column {i}" for i in range(data_set.features))
    features = np.random.default_rng(_SEED).standard_normal((rows, data_set.features))
    labels = np.arange(rows) % np.float64(2)
    return DataSet(data_set.name, columns, features, labels)


def _server_mb(workload: AnyWorkload, case: Case) -> int | None:
    try:
        parameters = _expected_parameters(case.parameters)
        needed_bytes = 0 if parameters is None else workload.server_bytes(parameters)
    except Exception:  # impossible parameters or size: another call reports the reason
        return None
    return -(-needed_bytes >> 20) or None


def reason_against_memory(needed_mb: int | None, memory_mb: int | None) -> str | None:
    """The reason why a server with this demand exceeds a party's ``memory_mb``; ``None`` if it fits, or either value is
    unknown.
    """
    if needed_mb is None or memory_mb is None or needed_mb <= memory_mb:
        return None
    return (
        f"the server needs about {needed_mb:,} MB in addition to keys and ciphertexts; the budget allows "
        f"{memory_mb:,} MB per party (memory_mb)"
    )


def reason_against_parties(memory: PartyBytes, memory_mb: int, host_mb: int | None) -> str | None:
    """The reason why the parties exceed what each may have, or the host has; ``None`` if they fit."""
    client, server, keys = (-(-size >> 20) for size in memory)
    most, party = max((server, "server"), (client, "client"))
    contents = f"the {party} needs about {most:,} MB, of which evaluation keys take {keys:,} MB"
    if most > memory_mb:
        return f"{contents}; the budget allows {memory_mb:,} MB per party (memory_mb)"
    if host_mb is not None and client + server > host_mb:
        return f"client and server need about {client + server:,} MB; the host has {host_mb:,} MB"
    return None


def reason_against_worker(memory: PartyBytes, memory_mb: int) -> str | None:
    """The reason why a worker exceeds what it may have; ``None`` if it fits."""
    _, worker, keys = (-(-size >> 20) for size in memory)
    if worker <= memory_mb:
        return None
    return (
        f"a worker needs about {worker:,} MB, of which evaluation keys take {keys:,} MB; the budget allows "
        f"{memory_mb:,} MB (memory_mb)"
    )


def _reason_against_keys(needed: KeyRequest, parameters: Parameters, declared: Declaration) -> str | None:
    able: Any = declared.key_kinds(parameters.spec.scheme)
    lacking = [words for name, words in _KEYS.items() if getattr(needed, name) and not getattr(able, name)]
    if lacking:
        return f"{declared.library} has no keys for {', '.join(lacking)} in {parameters.spec.scheme}"
    if needed and parameters.key_switching is None:
        return "evaluation keys need key switching, and a modulus chain of one prime leaves none for it"
    outside = [step for step in needed.steps if not within_row(step, parameters.ring_dimension)]
    if outside:
        return read(f"rotate({outside[0]})").reason_at(parameters.ring_dimension)
    return None


def _reason_against_chain(parameters: Parameters, declared: Declaration) -> str | None:
    """The security objection to a modulus chain. None for a library that chooses its primes, since these parameters do
    not determine its security.
    """
    if declared.chooses_primes:
        return None
    return parameter_selection.reason_against(parameters.spec, parameters.ring_dimension, parameters.log_qp)
