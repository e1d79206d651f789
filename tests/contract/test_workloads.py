"""Every workload gives the right scores on every adapter that declares its operations, and is refused by the others.

A small ring and few rows for all variants; one run at full size per workload, on ``seal``.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from ciphermark_adapters import registry
from ciphermark_circuits import products
from ciphermark_contract.interfaces import Adapter, Unsupported
from ciphermark_core import primes
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_measure.parties.in_process import InProcess
from ciphermark_workloads.catalogue import WORKLOADS as ALL
from ciphermark_workloads.catalogue import AnyWorkload
from ciphermark_workloads.data_sets import DATA_SETS, DataSet
from ciphermark_workloads.learning.classifier import Result, Table, Task, split

from . import cells, harness
from .checks import noise_bound
from .harness import Subject

WORKLOADS = {name: item for name, item in ALL.items() if item.family == "learning"}
SMALL_RING = 1024
# Scores of ckks may be wrong by so much of the largest; TenSEAL forgets exact scales.
TOLERANCE = 1e-4
K5_MEMORY_BYTES = 3 * 2**30
# Parameters that a library cannot take.
REFUSED = {("openfhe", "lr-fixed-encrypted", "bgv"): "BGV supports plaintext moduli of at most 32 bits"}
# The variants that must take all other parameters; one that somebody adds may have limits of its own.
OURS = {"cleartext", "seal", "seal-hexl", "tenseal", "pyfhel", "openfhe", "helib"}


def _small_task() -> Task:
    """Three columns, 72 rows to train with (two ciphertexts of pairs in the small ring), 18 to test."""
    boston = DATA_SETS["boston"]()
    chosen = [boston.columns.index(name) for name in ("RM", "LSTAT", "PTRATIO")]
    return split(
        DataSet("small", boston.columns[:3], boston.features[::6][:90, chosen], boston.labels[::6][:90]), 1
    )


TASK = _small_task()


def _small(workload: AnyWorkload, scheme: Scheme, variant: str) -> ParameterSpec:
    """The workload's chain over a small, insecure ring; TenSEAL insists on security."""
    roomy = registry.declaration(variant).chooses_primes
    spec = workload.roomy_parameters(scheme) if roomy else workload.parameters(scheme)
    if variant == "tenseal":
        return spec
    modulus = spec.plain_modulus
    if modulus is not None:
        modulus = primes.batching_modulus(modulus.bit_length(), SMALL_RING)
    return replace(spec, ring_dimension=SMALL_RING, plain_modulus=modulus, security=0)


def _evaluated(
    workload: AnyWorkload, adapter: Adapter, spec: ParameterSpec, task: Task
) -> tuple[Result, Result]:
    """What both parties compute together, and what is expected; ciphertexts cross as bytes."""
    both = InProcess(workload, adapter, spec, task)
    outputs = both.executed(task)[workload.stages[-1].name].outputs
    return both.output(outputs, task), workload.expected(task, both.parameters)


def _require_right(scheme: Scheme, found: Result, expected: Result) -> None:
    if scheme == "ckks":
        error = TOLERANCE * max(1.0, float(np.abs(expected.scores).max()))
        np.testing.assert_allclose(found.scores, expected.scores, rtol=0, atol=error)
    else:
        np.testing.assert_array_equal(found.scores, expected.scores)
    np.testing.assert_array_equal(found.labels, expected.labels)
    if found.weights is not None and expected.weights is not None:
        np.testing.assert_allclose(found.weights, expected.weights, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("name", WORKLOADS)
def test_small(variant: str, scheme: Scheme, name: str) -> None:
    workload, adapter = WORKLOADS[name], harness.adapter(variant)
    if scheme not in workload.schemes:
        with pytest.raises(Unsupported):
            workload.parameters(scheme)
        return
    if set(workload.operations(scheme)) - set(registry.declaration(variant).managed[scheme]):
        with pytest.raises(Unsupported):
            _evaluated(workload, adapter, workload.parameters(scheme), TASK)
        return
    spec = _small(workload, scheme, variant)
    if (variant, name, scheme) in REFUSED:
        with pytest.raises(Unsupported, match=REFUSED[variant, name, scheme]):
            adapter.resolve(spec)
        return
    if variant not in OURS:
        try:
            adapter.resolve(spec)
        except Unsupported as reason:
            pytest.skip(f"{variant} cannot take the workload's parameters: {reason}")
    _require_right(scheme, *_evaluated(workload, adapter, spec, TASK))


@cells.where(cells.has("rescale", "relinearize", "mod_switch", "square"))
@pytest.mark.schemes("ckks")
def test_a_cubic_at_exact_scales(deep: Subject) -> None:
    """Powers of different levels and scales end at one: cleartext would not notice if they did not."""
    x = deep.vector(5)
    result = products.polynomial(deep.evaluator, deep.encrypted(x), [0.25, -1.0, 0.5])
    error = noise_bound.polynomial_of_products(deep.parameters, slope=2.0, products=0.5)
    np.testing.assert_allclose(deep.decrypted(result), 0.25 - x + 0.5 * x**2, rtol=0, atol=error)


def _available_bytes() -> int:
    lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    return int(lines["MemAvailable"].split()[0]) * 1024


FULL: list[tuple[str, Scheme]] = [
    (name, scheme)
    for name, workload in WORKLOADS.items()
    for scheme in workload.schemes
    if not (name.startswith("lmc-per-row") and scheme == "bfv")  # ten seconds for the same circuit
]


@pytest.fixture(scope="module")
def own_process() -> Iterator[ProcessPoolExecutor]:
    """SEAL keeps its memory as long as it lives; spawned, since forking a process that has threads is at the mercy of
    their locks."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        yield process


@pytest.mark.variants("seal")
@pytest.mark.parametrize(("name", "kind"), FULL)
def test_full_size(variant: str, name: str, kind: Scheme, own_process: ProcessPoolExecutor) -> None:
    """Boston Housing at secure parameters: right, and in agreement with floating point row by row."""
    if name == "lr-k5-encrypted" and _available_bytes() < K5_MEMORY_BYTES:
        pytest.skip("five steps take 1.5 GB, of which the keys are 0.9: too little memory")
    own_process.submit(_require_full_size, variant, name, kind).result()


def _require_full_size(variant: str, name: str, kind: Scheme) -> None:
    workload, adapter, task = WORKLOADS[name], harness.adapter(variant), split(DATA_SETS["boston"](), 1)
    spec = workload.parameters(kind)
    assert adapter.resolve(spec).security_2018 >= 128
    found, expected = _evaluated(workload, adapter, spec, task)
    _require_right(kind, found, expected)
    agreement = float(np.mean(found.labels == workload.reference(task).labels))
    assert agreement == 1.0 if kind == "ckks" else agreement >= 0.99


@pytest.mark.variants("seal")
@pytest.mark.parametrize(("name", "kind"), [("lmc-encrypted", "bfv"), ("lr-k3-encrypted", "ckks")])
def test_thirty_columns_take_more_ciphertexts(variant: str, name: str, kind: Scheme) -> None:
    workload, adapter = WORKLOADS[name], harness.adapter(variant)
    task, spec = split(DATA_SETS["breast-cancer"](), 1), workload.parameters(kind)
    vectors = workload.vectors("train", task, adapter.resolve(spec))
    boston = workload.vectors("train", split(DATA_SETS["boston"](), 1), adapter.resolve(spec))
    assert len(vectors) > len(boston)
    _require_right(kind, *_evaluated(workload, adapter, spec, task))


def test_data_that_do_not_fit_are_refused() -> None:
    adapter = harness.adapter("cleartext")
    wide = split(
        DataSet("wide", ("c",) * 600, np.random.default_rng(0).normal(size=(40, 600)), np.arange(40) % 2.0), 1
    )
    far = Task(TASK.train, replace(TASK.test, features=TASK.test.features * 1e6))
    stages = {"lmc-encrypted": "train", "lr-k3-encrypted": "train"}
    for name, stage in stages.items():
        workload = WORKLOADS[name]
        spec = replace(workload.parameters("ckks"), ring_dimension=SMALL_RING, security=0)
        with pytest.raises(Unsupported, match="columns need blocks of"):
            workload.vectors(stage, wide, adapter.resolve(spec))
    for name, scheme in (("lmc-plain", "ckks"), ("lmc-plain", "bfv"), ("lr-k3-encrypted", "ckks")):
        workload = WORKLOADS[name]
        with pytest.raises(Unsupported, match="outliers"):
            workload.require_room(far, adapter.resolve(workload.parameters(scheme)))


@pytest.mark.parametrize("times", [1e7, 1e90])
@pytest.mark.parametrize(
    "name", [name for name, workload in WORKLOADS.items() if not name.startswith("lr-k5")]
)
def test_outliers_are_refused_in_every_scheme(name: str, times: float) -> None:
    """Also those that no 64-bit integer holds, and before a library would throw."""
    adapter, workload = harness.adapter("cleartext"), WORKLOADS[name]
    far = Task(TASK.train, replace(TASK.test, features=TASK.test.features * times))
    for scheme in workload.schemes:
        parameters = adapter.resolve(workload.parameters(scheme))
        with pytest.raises(Unsupported, match="outliers"):
            _packed(workload, far, parameters)


def _packed(workload: AnyWorkload, task: Task, parameters: Parameters) -> None:
    workload.require_room(task, parameters)
    for stage in workload.server_stages:
        workload.vectors(stage.name, task, parameters)


def _drawn(rows: int, columns: int, slope: float) -> Task:
    """Labels that follow from the first column the more, the steeper the slope; not at all at 0."""
    numbers = np.random.default_rng(7)
    features = numbers.normal(size=(rows, columns))
    labels = (slope * features[:, 0] + numbers.normal(size=rows) > 0).astype(np.float64)
    return split(DataSet("drawn", ("c",) * columns, features, labels), 1)


@pytest.mark.parametrize("kind", ["bfv", "bgv", "ckks"])
@pytest.mark.parametrize("name", ["lmc-plain", "lmc-encrypted"])
def test_many_rows_fit_and_agree_even_where_little_can_be_learned(name: str, kind: Scheme) -> None:
    """Small weights are what rounding spoils first; sums over many rows are what grows out of t."""
    workload, adapter = WORKLOADS[name], harness.adapter("cleartext")
    for task in (_drawn(20_000, 5, 0.0), _drawn(5_000, 20, 3.0)):
        parameters = adapter.resolve(workload.parameters(kind))
        _packed(workload, task, parameters)
        agreement = np.mean(workload.expected(task, parameters).labels == workload.reference(task).labels)
        assert agreement >= 0.998


def test_classes_of_one_mean_are_refused() -> None:
    corners = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    table = Table(np.tile(corners, (10, 1)), np.tile([0.0, 0.0, 1.0, 1.0], 10))
    for name in ("lmc-plain", "lmc-encrypted", "lmc-per-row-plain"):
        with pytest.raises(Unsupported, match="both classes have the same mean"):
            WORKLOADS[name].reference(Task(table, table))


@pytest.mark.variants("seal")
@pytest.mark.parametrize("kind", ["bfv", "ckks"])
def test_a_model_of_negative_and_zero_weights_is_scored(variant: str, kind: Scheme) -> None:
    """Products with 0 are refused by libraries, and factors near t cost all the noise budget."""
    features = TASK.train.features.copy()
    features[:, 0] = np.where(TASK.train.labels == 1, -1.0, 1.0)
    features[:, 1] = 0.0
    features[:, 2] = np.where(TASK.train.labels == 1, -0.5, 0.5)
    task = Task(replace(TASK.train, features=features), TASK.test)
    workload, adapter = WORKLOADS["lmc-plain"], harness.adapter(variant)
    _require_right(kind, *_evaluated(workload, adapter, workload.parameters(kind), task))
