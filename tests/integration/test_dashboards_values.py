"""Every figure's numbers, computed again with NumPy from the samples that were recorded, or written by hand."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from dashboard import dashboard, rows_of
from phases import place

from ciphermark_analysis.resampling import Rounds, spread
from ciphermark_core.model import Case, Outcome, Sample
from ciphermark_db.database import Database

if TYPE_CHECKING:  # tests/unit has a module of that name, too
    from conftest import Maker

Row = dict[str, str]
Key = tuple[str, str, str, str, int | None]

COSTS_MS = {"seal": 4.0, "seal-hexl": 2.0, "tenseal": 5.0}
OPERATIONS = {"add": 1.0, "mul": 7.0}
CASES = (("constant", 16, 1), ("random", 16, 1), ("random", 8192, 1), ("constant", 16, 2), ("random", 16, 2))
SAMPLES = 9
OTHER_PRIMES = (2**45 - 229, 2**45 - 55, 2**45 - 81)
THRESHOLD = 1.05


@dataclass(frozen=True)
class Recorded:
    """A run, its cases, and its samples without warm-ups, in the order they were taken."""

    run_id: str
    cases: Mapping[tuple[str, str], Case]
    samples: Mapping[Key, np.ndarray]

    def case(self, row: Row) -> Case:
        """The case that a row of a figure links to."""
        return self.cases[row["comparison_group"], row.get("variant") or row["variant_on"]]

    def of(
        self, row: Row, metric: str, phase: str = "evaluate", repetitions: int | None = None
    ) -> np.ndarray:
        """The samples of the case that a row links to."""
        return self.samples[row["comparison_group"], row["variant"], metric, phase, repetitions]


def outcomes(make: Maker, run: object) -> Iterator[Outcome]:
    """Samples that spread, so that nothing comes out right that is not computed of the right ones."""
    random = np.random.default_rng(3)

    def values(metric: str, middle: float, phase: str = "evaluate", **more: int) -> tuple[Sample, ...]:
        drawn = middle * random.lognormal(sigma=0.2, size=SAMPLES + 1)
        return tuple(
            Sample(
                metric, float(value) * (1000 if warm else 1), *place(phase), number, is_warmup=warm, **more
            )
            for number, (value, warm) in enumerate(zip(drawn, [True] + SAMPLES * [False], strict=True))
        )

    def timed(case: Case, cost_s: float, **changes: object) -> Outcome:
        samples = values("time", cost_s) + values("time", cost_s * 3, "encrypt")
        samples += values("noise_budget", 100 * cost_s**0.1)
        samples += values("peak_memory", 1e10 * cost_s) + values("peak_memory", 3e10 * cost_s, "encrypt")
        return make.outcome(run, case, samples, **changes)

    for number, (variant, cost_ms) in enumerate(COSTS_MS.items()):
        for operation, factor in OPERATIONS.items():
            for data, size, threads in CASES:
                case = make.case(
                    variant, operation=operation, vector_length=size, data_pattern=data, threads=threads
                )
                yield timed(case, cost_ms / 1000 * factor * (1.7 if data == "random" else 1) / threads)
        case = make.case(variant, operation="add", vector_length=16)
        other = replace(case, parameters=replace(case.parameters, modulus_bits=(45, 45, 45)))
        yield timed(other, cost_ms / 400, parameters=make.parameters(other.parameters, OTHER_PRIMES))
        for size in (16, 8192):
            case = make.case(variant, experiment="noise", operation="mul", vector_length=size)
            bits = [values("noise_budget", 90.0 - 9 * n, repetitions=n) for n in (0, 1, 2)]
            yield make.outcome(run, case, sum(bits, ()))
            case = make.case(
                variant,
                experiment="depth",
                operation="mul",
                vector_length=size,
                dimensions={"max_repetitions": 64},
            )
            deepest = (Sample("depth", 4.0 + number + size // 16, "evaluate"),)
            yield make.outcome(
                run, case, (*deepest, Sample("is_at_max_repetitions", float(number == 1), "evaluate"))
            )
            case = make.case(variant, experiment="serialization", operation="zstd", vector_length=size)
            sizes = values("size", 1e6 * (number + 1), "ciphertext")
            yield make.outcome(run, case, sizes + values("expansion", 20.0 + size, "ciphertext"))
        for count in (2, 20):
            case = make.case(
                variant,
                experiment="repetition",
                operation="mul",
                vector_length=16,
                dimensions={"repetitions": count},
            )
            samples = values("time", count * cost_ms, repetitions=count)
            samples += values("peak_memory", 1e8 * count, repetitions=count)
            yield make.outcome(run, case, samples + values("precision", 30.0, repetitions=count))


@pytest.fixture(scope="module")
def recorded(database: Database, make: Maker) -> Recorded:
    run = make.run()
    made = list(outcomes(make, run))
    database.record_run(run)
    database.record_outcomes(made)
    samples: dict[Key, list[float]] = defaultdict(list)
    for outcome in made:
        case = outcome.trial.case
        for sample in outcome.samples:
            if not sample.is_warmup:
                key = (case.comparison_group, case.variant, sample.metric, sample.phase, sample.repetitions)
                samples[key].append(sample.value)
    cases = {(item.trial.case.comparison_group, item.trial.case.variant): item.trial.case for item in made}
    return Recorded(run.id, cases, {key: np.array(values) for key, values in samples.items()})


@pytest.fixture(scope="module")
def ask(url: str, recorded: Recorded) -> Iterator[Callable[..., list[Row]]]:
    """The rows of a figure's CSV. Each is of the case that it links to."""
    with dashboard(url) as client:

        def rows(name: str, **params: object) -> list[Row]:
            found = rows_of(client, name, **{"run": recorded.run_id} | params)
            for row in found:
                if row.get("comparison_group") and "vector_length" in row:
                    case = recorded.case(row)
                    assert row.get("operation", row.get("compression")) == case.operation
                    assert row["vector_length"] == str(case.vector_length)
                    assert row.get("data_pattern", case.data_pattern) == case.data_pattern
                    assert row["threads"] == str(case.threads)
            return found

        yield rows


def interval(values: np.ndarray) -> tuple[float, float]:
    """The 95% interval of the median of nine values: the second and the eighth, as tables of order statistics say."""
    assert len(values) == SAMPLES
    ordered = np.sort(values)
    return ordered[1], ordered[-2]


def numbers(row: Row, *names: str) -> list[float]:
    return [float(row[name]) for name in names]


def figures(values: np.ndarray) -> object:
    return pytest.approx([np.median(values), *interval(values)])


@pytest.mark.parametrize(
    ("name", "params", "count"),
    [
        ("latency", {"phase": "evaluate"}, 15),
        ("latency", {"phase": "encrypt", "data": "constant"}, 6),
        ("latency", {"threads": 2}, 6),
        ("latency-by-size", {"phase": "encrypt", "operation": "mul"}, 6),
    ],
)
def test_times(ask: Callable[..., list[Row]], recorded: Recorded, name: str, params: Row, count: int) -> None:
    rows = ask(name, **params)
    assert len(rows) == count
    for row in rows:
        values = recorded.of(row, "time", row["phase"])
        assert numbers(row, "median", "ci_low", "ci_high") == figures(values)
        assert row["n"] == str(SAMPLES)


def ratios(recorded: Recorded, row: Row) -> np.ndarray:
    """Of a row of the matrix: the times divided by those of the fastest, turn by turn."""
    of_case = [recorded.of(row | {"variant": name}, "time") for name in COSTS_MS]
    return recorded.of(row, "time") / min(of_case, key=np.median)


def _paired(recorded: Recorded, row: Row) -> Rounds:
    """Of a row of the matrix: the rounds of the variant and of the fastest."""
    of_case = [recorded.of(row | {"variant": name}, "time") for name in COSTS_MS]
    own, fastest = recorded.of(row, "time"), min(of_case, key=np.median)
    return Rounds(dict(enumerate(own)), dict(enumerate(fastest)), is_paired=True)


def test_the_matrix_has_ratios_of_pairs(ask: Callable[..., list[Row]], recorded: Recorded) -> None:
    rows = ask("matrix")
    assert len(rows) == 33
    for row in rows:
        assert float(row["median"]) == pytest.approx(np.median(recorded.of(row, "time")))
        assert numbers(row, "ratio", "ci_low", "ci_high") == figures(ratios(recorded, row))


def test_the_leaderboard_is_the_mean_of_what_stands_below_it(
    ask: Callable[..., list[Row]], recorded: Recorded
) -> None:
    rows = {row["variant"]: row for row in ask("leaderboard")}
    cells: dict[str, list[Row]] = defaultdict(list)
    for row in ask("matrix"):
        cells[row["variant"]].append(row)
    unpaired = {}
    for variant, row in rows.items():
        logarithms = [math.log(float(cell["ratio"])) for cell in cells[variant]]
        assert float(row["mean_ratio"]) == pytest.approx(math.exp(np.mean(logarithms)))
        # Rounds are numbered in another order here: the same interval but for what is drawn.
        half = spread([[_paired(recorded, cell)] for cell in cells[variant]]).half_width(0)
        for bound, sign in (("ci_low", -1), ("ci_high", 1)):
            found = sign * math.log(float(row[bound]) / float(row["mean_ratio"]))
            assert found == pytest.approx(half, rel=0.25)
        tied = [
            cell for cell in cells[variant] if cell["ratio"] == "1.0" or cell["verdict"] == "no difference"
        ]
        assert (row["common_cases"], row["compared_cases"], row["fastest_in"]) == ("11", "11", str(len(tied)))
        medians = [
            math.log(float(cell["median"]) / float(best["median"]))
            for cell, best in zip(cells[variant], cells["seal-hexl"], strict=True)
        ]
        unpaired[variant] = math.exp(np.mean(medians))
    assert float(rows["seal"]["mean_ratio"]) != pytest.approx(unpaired["seal"], rel=1e-3)
    assert {name: row["rank"] for name, row in rows.items()} == {
        "seal-hexl": "1",
        "seal": "2",
        "tenseal": "2",
    }


def test_speed_up_is_of_pairs(ask: Callable[..., list[Row]], recorded: Recorded) -> None:
    rows = ask("speedup", phase="encrypt", operation="add", vector_length=16)
    assert len(rows) == 2  # of two chains
    for row in rows:
        without, with_ = (
            recorded.of(row | {"variant": name}, "time", "encrypt") for name in ("seal", "seal-hexl")
        )
        assert numbers(row, "ratio", "ci_low", "ci_high") == figures(without / with_)
    (row,) = ask("speedup", operation="mul", vector_length=16, threads=2)
    without, with_ = (recorded.of(row | {"variant": name}, "time") for name in ("seal", "seal-hexl"))
    assert numbers(row, "ratio", "ci_low", "ci_high") == figures(without / with_)


def test_data_patterns_are_compared_by_their_medians(
    ask: Callable[..., list[Row]], recorded: Recorded
) -> None:
    rows = ask("by-data")
    assert len(rows) == 6
    for row in rows:
        random = recorded.of(row, "time")
        case = recorded.case(row)
        same = recorded.of(
            row | {"comparison_group": replace(case, data_pattern="constant").comparison_group}, "time"
        )
        assert numbers(row, "constant_s", "random_s") == pytest.approx([np.median(same), np.median(random)])
        (constant_low, constant_high), (random_low, random_high) = interval(same), interval(random)
        middles = np.median(random), np.median(same)
        ratio = middles[0] / middles[1]
        below = math.hypot(math.log(middles[0] / random_low), math.log(constant_high / middles[1]))
        above = math.hypot(math.log(random_high / middles[0]), math.log(middles[1] / constant_low))
        expected = [ratio, ratio / math.exp(below), ratio * math.exp(above)]
        assert numbers(row, "ratio", "ci_low", "ci_high") == pytest.approx(expected)
        assert row["verdict"] == ("random is slower" if expected[1] > THRESHOLD else "no difference")


def test_noise(ask: Callable[..., list[Row]], recorded: Recorded) -> None:
    rows = ask("noise")
    assert len(rows) == 18
    for row in rows:
        values = recorded.of(row, "noise_budget", repetitions=int(row["repetitions"]))
        assert float(row["bits"]) == pytest.approx(np.median(values))
        assert row["meaning"] == "noise budget"
    assert len(ask("noise", vector_length=16)) == 9


def test_remaining_bits_after_one_operation(ask: Callable[..., list[Row]], recorded: Recorded) -> None:
    rows = ask("remaining-bits")
    assert len(rows) == 15
    for row in rows:
        values = recorded.of(row, "noise_budget")
        assert numbers(row, "bits", "min", "max") == pytest.approx(
            [np.median(values), min(values), max(values)]
        )
        assert row["meaning"] == "noise budget"
    assert len(ask("remaining-bits", data="constant")) == len(ask("remaining-bits", threads=2)) == 6


def test_depth(ask: Callable[..., list[Row]]) -> None:
    found = {
        (row["variant"], row["vector_length"]): (row["depth"], row["is_at_max_repetitions"])
        for row in ask("depth")
    }
    assert found == {
        ("seal", "16"): ("5", "False"),
        ("seal-hexl", "16"): ("6", "True"),
        ("tenseal", "16"): ("7", "False"),
        ("seal", "8192"): ("516", "False"),
        ("seal-hexl", "8192"): ("517", "True"),
        ("tenseal", "8192"): ("518", "False"),
    }


def test_memory_mixes_no_cases(ask: Callable[..., list[Row]], recorded: Recorded) -> None:
    for params, count in (
        ({}, 15),
        ({"data": "constant"}, 6),
        ({"threads": 2}, 6),
        ({"phase": "encrypt"}, 15),
    ):
        rows = ask("memory", **params)
        assert len(rows) == count
        for row in rows:
            values = recorded.of(row, "peak_memory", row["phase"])
            assert float(row["peak_bytes"]) == pytest.approx(np.median(values))


def test_sizes(ask: Callable[..., list[Row]], recorded: Recorded) -> None:
    rows = ask("sizes")
    assert len(rows) == 6
    for row in rows:
        medians = [np.median(recorded.of(row, metric, row["object"])) for metric in ("size", "expansion")]
        assert numbers(row, "bytes", "expansion") == pytest.approx(medians)


def test_chains(ask: Callable[..., list[Row]], recorded: Recorded) -> None:
    rows = ask("repetitions")
    assert {(row["variant"], row["repetitions"]) for row in rows} == {
        (variant, count) for variant in COSTS_MS for count in ("2", "20")
    }
    for row in rows:
        count = int(row["repetitions"])
        time, memory, bits = (
            recorded.of(row, name, repetitions=count) for name in ("time", "peak_memory", "precision")
        )
        assert numbers(row, "median", "ci_low", "ci_high") == figures(time)
        assert numbers(row, "peak_bytes", "remaining_bits") == pytest.approx([max(memory), np.median(bits)])


def test_a_case_has_all_figures_and_all_samples(ask: Callable[..., list[Row]], recorded: Recorded) -> None:
    case = next(key for (key, _), case in recorded.cases.items() if case.operation == "mul")
    rows = ask("case-results", case=case)
    assert len(rows) == 3 * 5
    of_case = [row | {"comparison_group": case} for row in rows]
    for row in of_case:
        values = recorded.of(row, row["metric"], row["phase"])
        assert numbers(row, "median", "ci_low", "ci_high") == figures(values)
        assert numbers(row, "min", "max") == pytest.approx([min(values), max(values)])
        assert float(row["mad"]) == pytest.approx(np.median(abs(values - np.median(values))))
    samples = ask("case-samples", case=case)
    assert len(samples) == 3 * 2 * (SAMPLES + 1)
    for phase in ("evaluate", "encrypt"):
        taken = [
            float(row["value"])
            for row in samples
            if row["variant"] == "seal" and row["phase"] == phase and row["is_warmup"] == "False"
        ]
        key = (case, "seal", "time", phase, None)
        assert taken == pytest.approx(list(recorded.samples[key]))
