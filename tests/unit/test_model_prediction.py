"""Predictions against sums computed by hand, and against laws."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_adapters import registry
from ciphermark_contract.footprint import Switching
from ciphermark_contract.interfaces import Evaluator, Handle
from ciphermark_contract.operations import Shape
from ciphermark_contract.program import Node, Program
from ciphermark_contract.tracing import Circuit, fresh_inputs, trace
from ciphermark_core.model import Parameters, ParameterSpec
from ciphermark_model.interpolation import Costs
from ciphermark_model.prediction import EVALUATE, Prediction, StageSubject, Subject, predict
from ciphermark_model.reuse import Caches, Reads, digits_in_use, reads_of
from ciphermark_model.scheduling import makespans
from ciphermark_model.table import Cost, CostTable, Key

N = 8192
OPERATIONS = {
    "add": 10.0,
    "mul": 20.0,
    "mul_plain": 30.0,
    "square": 15.0,
    "relinearize": 100.0,
    "rescale": 40.0,
    "rotate": 110.0,
    "mod_switch": 5.0,
}
STEPS = {"encrypt": 500.0, "decrypt": 200.0, "dump": 7.0, "load": 9.0, "encode": 50.0}
DECLARED = registry.declaration("openfhe")


def parameters(bits: tuple[int, ...] = (50, 40, 40, 50)) -> Parameters:
    return registry.load("cleartext").resolve(ParameterSpec("ckks", N, bits, scale_bits=40, security=0))


def key(operation: str, primes: int, residency: str = "cached", ring: int = N) -> Key:
    switches = operation in ("relinearize", "rotate")
    digits, special = (primes, 1) if switches else (0, 0)
    return Key(operation, "ckks", ring, primes, digits, special, residency=residency)  # type: ignore[arg-type]


def cost(seconds: float) -> Cost:
    return Cost(seconds, 0.99 * seconds, 1.01 * seconds, 30)


def table() -> CostTable:
    """Each operation costs its number times its primes, and twice as much streamed."""
    entries = {
        key(name, primes, residency): cost(1e-6 * factor * primes * (2 if residency == "streamed" else 1))
        for name, factor in OPERATIONS.items()
        for primes in (1, 2, 3)
        for residency in ("cached", "streamed")
    }
    for name, factor in STEPS.items():
        entries |= {key(name, primes): cost(1e-6 * factor * primes) for primes in (1, 2, 3)}
    decrypted = {replace(key("decrypt", n), count=2): entries[key("decrypt", n)] for n in (1, 2, 3)}
    return CostTable("host", "openfhe", "build", entries | decrypted)


def program_of(circuit: Circuit, inputs: int = 1) -> Program:
    resolved = parameters()
    return trace(circuit, resolved, fresh_inputs(resolved, inputs)).program


def predicted(program: Program, costs: CostTable | None = None, threads: int = 1) -> Prediction:
    subject = Subject(DECLARED, (StageSubject("compute", program, len(program.inputs)),), program.keys)
    return predict(subject, table() if costs is None else costs, threads)


def squared_and_rotated(evaluator: Evaluator, inputs: list[Handle]) -> list[Handle]:  # type: ignore[misc]
    product = evaluator.apply("relinearize", evaluator.apply("square", inputs[0]))
    low = evaluator.apply("rescale", product)
    return [evaluator.apply("add", low, evaluator.apply("rotate", low, 1))]


def test_an_evaluation_is_the_sum_of_its_nodes_at_their_levels() -> None:
    prediction = predicted(program_of(squared_and_rotated))  # type: ignore[arg-type]

    expected = 3 * (15 + 100 + 40) + 2 * (110 + 10)
    assert prediction.evaluation.value == pytest.approx(1e-6 * expected)
    assert prediction.evaluation.low < prediction.evaluation.value < prediction.evaluation.high
    assert not prediction.uncovered
    assert [(share.operation, share.level) for share in prediction.shares][:2] == [
        ("relinearize", 2),
        ("rotate", 1),
    ]
    assert math.fsum(share.seconds for share in prediction.shares) == pytest.approx(1e-6 * expected)


def test_the_steps_of_the_client_and_bytes_follow_from_the_program() -> None:
    prediction = predicted(program_of(squared_and_rotated))  # type: ignore[arg-type]
    times = {place: quantity.value for place, quantity in prediction.times_s.items()}

    assert times["client", "compute", "encrypt"] == pytest.approx(1500e-6)
    assert times["client", "compute", "decrypt"] == pytest.approx(400e-6)
    assert times["server", "compute", "serialize"] == pytest.approx(21e-6 * 2 / 3)
    assert prediction.upload_bytes == 2 * 3 * 8 * N + 113
    assert prediction.download_bytes == 2 * 2 * 8 * N + 113
    whole = prediction.end_to_end(8 * (prediction.upload_bytes + prediction.download_bytes), rtt_s=0.5)
    assert whole.value == pytest.approx(1.5 + math.fsum(times.values()))


def test_a_program_without_nodes_costs_nothing_but_the_steps_of_the_client() -> None:
    prediction = predicted(program_of(lambda _, inputs: inputs))
    assert prediction.evaluation.value == 0
    assert not prediction.uncovered
    assert ("client", "compute", "decrypt") in prediction.times_s


def test_a_cost_that_is_not_in_the_table_is_named_and_makes_the_prediction_partial() -> None:
    full = table()
    without = replace(
        full, entries={item: cost for item, cost in full.entries.items() if item.operation != "rotate"}
    )
    program = program_of(squared_and_rotated)  # type: ignore[arg-type]
    prediction = predicted(program, without)

    assert prediction.is_partial
    assert prediction.is_bound
    assert prediction.uncovered == (f"{EVALUATE}: rotate (CKKS, N = {N}, 2 primes), 1 times",)
    assert prediction.evaluation.value < predicted(program).evaluation.value


def test_a_wide_chain_is_not_covered_by_costs_of_narrow_primes() -> None:
    """A build with code for small primes has other times for larger ones; between both, costs are mixed."""
    narrow = replace(table(), sees_prime_sizes=True)
    wide_key = narrow.key("add", "ckks", N, (60, 40, 40))
    assert wide_key.wide == 1
    assert Costs(narrow).of(wide_key) is None
    both = replace(narrow, entries={**narrow.entries, replace(wide_key, wide=3): cost(90e-6)})
    mixed = Costs(both).of(wide_key)
    assert mixed is not None
    assert mixed.median == pytest.approx(30e-6 * 2 / 3 + 90e-6 / 3)
    assert table().key("add", "ckks", N, (60, 40, 40)) == key("add", 3)


@given(
    st.lists(st.floats(1e-12, 1e-8), min_size=3, max_size=3),
    st.integers(13, 15),
    st.integers(2, 9),
)
def test_costs_between_rings_follow_the_law_that_the_others_obey(
    coefficients: list[float], logarithm: int, primes: int
) -> None:
    """Points of a law of the basis are reproduced where they are left out; nothing is extrapolated."""

    def law(ring: int, number: int) -> float:
        basis = (
            ring * number,
            ring * math.log2(ring) * (number + 2) * (number + 1),
            16 * number * (number + 1) * ring,
        )
        return math.fsum(factor * value for factor, value in zip(coefficients, basis, strict=True))

    wanted = 1 << logarithm
    entries = {
        key("rotate", number, ring=1 << log_n): cost(law(1 << log_n, number))
        for log_n in range(12, 17)
        for number in range(1, 11)
        if log_n != logarithm
    }
    costs = Costs(CostTable("host", "seal", "build", entries))
    found = costs.of(key("rotate", primes, ring=wanted))
    assert found is not None
    assert found.median == pytest.approx(law(wanted, primes), rel=0.01)
    assert costs.of(key("rotate", 11, ring=wanted)) is None
    assert costs.of(key("rotate", primes, ring=1 << 17)) is None


def test_costs_between_levels_keep_the_measured_ends() -> None:
    entries = {key("add", primes): cost(1e-6 * primes) for primes in (1, 3)}
    found = Costs(CostTable("host", "seal", "build", entries)).of(key("add", 2))
    assert found is not None
    assert found.median == pytest.approx(2e-6)
    assert found.low < found.median < found.high


def test_costs_of_several_handles_are_between_the_measured_numbers() -> None:
    entries = {replace(key("add_many", 2), count=n): cost(1e-6 * n) for n in (8, 64)}
    costs = Costs(CostTable("host", "seal", "build", entries))
    for count, seconds in ((8, 8e-6), (20, 20e-6), (4, 4e-6), (512, 512e-6)):
        found = costs.of(replace(key("add_many", 2), count=count))
        assert found is not None
        assert found.median == pytest.approx(seconds)
    assert costs.of(replace(key("add_many", 2), count=513)) is None


def test_the_digest_names_the_content_in_any_order() -> None:
    one = table()
    other = replace(one, entries=dict(reversed(one.entries.items())))
    assert one.digest == other.digest
    changed = {**one.entries, key("add", 1): cost(1.0)}
    assert replace(one, entries=changed).digest != one.digest
    assert one.digest == table().digest


DEPENDENCIES = st.lists(st.lists(st.integers(0, 30), max_size=3), min_size=1, max_size=30)


@given(DEPENDENCIES, st.data(), st.integers(1, 4))
def test_list_scheduling_lies_between_its_bounds(
    before: list[list[int]], data: st.DataObject, threads: int
) -> None:
    """max(work / threads, span) ≤ T ≤ work, and T ≤ work / threads + span (Graham, 1966)."""
    shape = Shape(1, 2.0**40)
    nodes = tuple(
        Node("add", tuple(min(value, index) for value in values) or (0,), results=(shape,))
        for index, values in enumerate(before)
    )
    program = Program(parameters(), (shape,), (), nodes, (len(nodes),))
    seconds = [data.draw(st.integers(1, 100)) / 8 for _ in nodes]
    [elapsed] = makespans(program, [seconds], threads)
    by_node = dict(zip(map(id, nodes), seconds, strict=True))
    span = program.span(lambda node, _: by_node[id(node)])
    work = math.fsum(seconds)
    assert max(work / threads, span) <= elapsed + 1e-9
    assert elapsed <= min(work, work / threads + span) + 1e-9


def test_native_nodes_share_threads_and_others_take_costs_of_several_threads() -> None:
    """Two independent rotations: SEAL executes them side by side, OpenFHE has no costs of two threads here."""

    def twice(evaluator: Evaluator, inputs: list[Handle]) -> list[Handle]:  # type: ignore[misc]
        return [evaluator.apply("rotate", item, 1) for item in inputs]

    program = program_of(twice, 2)  # type: ignore[arg-type]
    seal = Subject(registry.declaration("seal"), (StageSubject("compute", program, 2),), program.keys)
    one, two = (predict(seal, table(), threads).evaluation.value for threads in (1, 2))
    assert two == pytest.approx(one / 2)
    assert predicted(program, threads=2).is_partial


def test_reads_move_from_the_near_cache_to_memory_with_their_distance() -> None:
    caches = Caches(1 << 20, 1 << 25)
    shares = caches.missing(np.array([1.0 * (1 << power) for power in range(18, 28)]))
    assert list(shares[:3]) == [0, 0, 0]
    assert list(shares[-2:]) == [1, 1]
    assert all(low <= high for low, high in pairwise(shares))
    half = reads((1000, 1000), (1000, 1 << 26))
    assert caches.streamed_shares(half) == pytest.approx([0.5])
    assert Caches(0, 0).streamed_shares(half) == [0]
    assert list(Caches(0, 1 << 25).missing(np.array([1.0, 1 << 24, 1 << 26]))) == [0, 0, 1]
    large = reads((1 << 26, 1 << 27))  # a loop over it misses, too
    assert caches.streamed_shares(large) == [0]


def reads(*operands: tuple[int, int]) -> Reads:
    """One node with operands of these sizes and distances."""
    sizes, distances = np.array(operands, dtype=np.float64).T
    zero = np.zeros(1)
    return Reads(np.zeros(len(operands), dtype=np.int64), sizes, distances, zero, zero, zero)


def test_reuse_distances_are_the_bytes_touched_since_the_last_use() -> None:
    program = program_of(squared_and_rotated)  # type: ignore[arg-type]
    found = reads_of(program, Switching(3, 1))
    polynomial = 8 * N
    # square, relinearize, rescale, rotate, add: each but the last one reads what was just written.
    assert list(found.sizes) == [count * polynomial for count in (6, 9, 6, 4, 4, 4)]
    key = 2 * 2 * 3 * polynomial
    # The sum first reads what the rotation read: the rotation touched that, its key and its result since.
    assert list(found.distances[:5]) == [0, 0, 0, 0, 8 * polynomial + key]
    assert list(found.key_sizes / polynomial) == [0, 2 * 3 * 4, 0, 2 * 2 * 3, 0]


def test_digits_shrink_with_the_chain() -> None:
    assert [digits_in_use(primes, 6, 3) for primes in range(1, 7)] == [1, 1, 2, 2, 3, 3]
    assert [digits_in_use(primes, 4, 4) for primes in range(1, 5)] == [1, 2, 3, 4]


def test_a_track_record_replaces_the_error_that_the_model_assumes() -> None:
    program = program_of(squared_and_rotated)  # type: ignore[arg-type]
    assumed = predicted(program).evaluation
    record = predicted(program, replace(table(), residuals=(0.001, -0.001) * 10)).evaluation
    assert record.value == assumed.value
    assert record.high - record.low < assumed.high - assumed.low
    widened = predicted(program, replace(table(), widening=0.5, remarks=("another host",)))
    assert widened.evaluation.high > 1.5 * assumed.value
    assert widened.remarks == ("another host",)


def test_seeded_inputs_cost_what_was_measured_of_them() -> None:
    """They are written when they are encrypted. Without their costs, the missing steps are named."""
    program = program_of(squared_and_rotated)  # type: ignore[arg-type]
    subject = Subject(DECLARED, (StageSubject("compute", program, 1),), program.keys, is_seeded=True)
    assert predict(subject, table()).uncovered == (
        f"encrypt: dump_seeded (CKKS, N = {N}, 3 primes), 1 times",
        f"deserialize: load_seeded (CKKS, N = {N}, 3 primes), 1 times",
    )
    seeded = {key("dump_seeded", 3): cost(4e-3), key("load_seeded", 3): cost(2e-3)}
    full = replace(table(), entries={**table().entries, **seeded})
    prediction = predict(subject, full)
    times = {place[::2]: quantity.value for place, quantity in prediction.times_s.items()}
    assert not prediction.uncovered
    assert (times["client", "encrypt"], times["server", "deserialize"]) == (4e-3, 2e-3)
    assert ("client", "serialize") not in times


def test_a_ciphertext_of_several_residues_is_encrypted_once_for_each() -> None:
    spec = ParameterSpec("bfv", N, (50, 40, 40, 50), 114689 * 147457, security=0)
    assert len(spec.plain_residues) == 2
    resolved = registry.load("cleartext").resolve(spec)
    program = trace(lambda _, inputs: inputs, resolved, fresh_inputs(resolved, 1)).program
    entries = {replace(item, scheme="bfv"): value for item, value in table().entries.items()}
    subject = Subject(DECLARED, (StageSubject("compute", program, 1),), program.keys)
    times = predict(subject, replace(table(), entries=entries)).times_s  # type: ignore[arg-type]
    assert times["client", "compute", "encrypt"].value == pytest.approx(2 * 1500e-6)
    assert times["client", "compute", "decrypt"].value == pytest.approx(2 * 600e-6)
