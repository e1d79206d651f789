from __future__ import annotations

import io
import math

import pytest
from rich.console import Console

from ciphermark_analysis.comparison import differences
from ciphermark_present import headings, listing, terminal
from ciphermark_present.catalogue import repetitions
from ciphermark_present.catalogue.columns import VARIANT
from ciphermark_present.printed import Head, Wanted, head, of
from ciphermark_present.printed import printed as table_of


def row(variant="seal", median=2.0, **changes):
    made = {
        "scheme": "bgv",
        "operation": "mul",
        "label": "mul",
        "repetitions": 3,
        "data_pattern": "random",
        "vector_length": 16,
        "ciphertexts": 1,
        "threads": 1,
        "tuning": "matched",
        "variant": variant,
        "ring_dimension": 8192,
        "modulus_bits": [50, 40, 60],
        "log_qp": 150.0,
        "key_switching": "hybrid",
        "decomposition_digits": 3,
        "security_2018": 128,
        "security_2024": 128,
        "ring_dimension_is_minimum": True,
        "status": "ok",
        "comparison_group": "least",
        "case_key": f"least/{variant}",
        "n": 6,
        "median": median,
        "ci_low": 0.9 * median,
        "ci_high": 1.1 * median,
        "peak_bytes": 50e6,
        "remaining_bits": 12.0,
        "undisturbed_share": 0.9,
        "slowdown": 1.0,
        "fastest_variant": "seal",
        "ratio": median / 2.0,
        "ratio_low": 0.99 * median / 2.0,
        "ratio_high": 1.01 * median / 2.0,
        "is_paired": True,
    }
    return made | changes


def given(variant, ring_dimension, median, **changes):
    key = f"given/{ring_dimension}"
    return row(
        variant,
        median,
        ring_dimension_is_minimum=False,
        ring_dimension=ring_dimension,
        comparison_group=key,
        fastest_variant=variant,
        **changes,
    )


def contests(rows):
    return [
        [(item["variant"], item["ring_dimension"]) for item in group] for group in repetitions.contests(rows)
    ]


def test_the_smallest_and_the_given_ring_of_each_library_are_one_contest_fastest_first():
    rows = [
        row("openfhe", 3.0, ring_dimension=16384),
        row("seal", 2.0),
        given("openfhe", 32768, 7.0),
        given("seal", 4096, 1.0),
    ]
    assert contests(rows) == [[("seal", 4096), ("seal", 8192), ("openfhe", 16384), ("openfhe", 32768)]]


def test_where_a_suite_varies_the_ring_every_ring_is_a_contest():
    rows = [
        given(name, ring, ring * factor)
        for ring in (8192, 16384)
        for name, factor in (("openfhe", 1e-3), ("seal", 2e-3))
    ]
    assert contests([row("seal", 5.0), *rows]) == [
        [("seal", 8192)],
        [("openfhe", 8192), ("seal", 8192)],
        [("openfhe", 16384), ("seal", 16384)],
    ]


def test_every_number_of_operations_is_a_contest():
    rows = [row(repetitions=count) for count in (2, 3, 20)]
    assert contests(rows) == [[("seal", 8192)]] * 3


def test_what_failed_comes_last_and_has_no_ratio():
    failed = row("openfhe", status="budget_exhausted", is_paired=False) | {"median": None, "n": None}
    (group,) = repetitions.contests([failed, row()])
    first, second = repetitions.against_fastest(group)
    assert [item["variant"] for item in group] == ["seal", "openfhe"]
    assert (first.ratio.median, second.ratio) == (1.0, None)


def test_the_ratio_of_those_that_took_turns_is_the_database_s():
    slower = row("openfhe", 6.0, ratio=2.5, ratio_low=2.4, ratio_high=2.6)
    _, found = repetitions.against_fastest([row(), slower])
    assert found.is_paired
    assert (found.ratio.median, found.ratio.low, found.ratio.high) == (2.5, 2.4, 2.6)


def test_a_disturbed_time_is_never_the_fastest_and_is_marked():
    disturbed = row("openfhe", 1.0, undisturbed_share=0.0, slowdown=None, ci_low=None, ci_high=None)
    (group,) = repetitions.contests([disturbed, row()])
    assert [item["variant"] for item in group] == ["seal", "openfhe"]
    ranks = [{"rank": 1, "ci_low": row["ratio_low"], "ci_high": row["ratio_high"]} | row for row in group]
    (table,) = listing.tables(repetitions.REPETITIONS, repetitions.LAYOUT, [group, ranks], Wanted())
    assert any("!1 s" in cell for line in table.rows for cell in line)
    assert "! disturbed samples only" in table.about


@pytest.mark.parametrize(
    "slower",
    [
        row("openfhe", 6.0, is_paired=False, ratio=99.0),
        row("openfhe", 6.0, comparison_group="another", ratio=99.0),
        row("openfhe", 6.0, fastest_variant="tenseal", ratio=99.0),
    ],
    ids=["no pairs", "another comparison", "paired with another"],
)
def test_others_get_the_interval_of_two_medians(slower):
    _, found = repetitions.against_fastest([row(), slower])
    assert not found.is_paired
    assert found.ratio.median == 3.0
    assert found.ratio.low == pytest.approx(3.0 / math.exp(math.hypot(math.log(6 / 5.4), math.log(2.2 / 2))))
    assert found.ratio.high == pytest.approx(3.0 * math.exp(math.hypot(math.log(6.6 / 6), math.log(2 / 1.8))))


def titles(rows, across_security_levels=False):
    ranks = [{"rank": 1, "ci_low": row["ratio_low"], "ci_high": row["ratio_high"]} | row for row in rows]
    return [
        (table.title, len(table.rows))
        for table in listing.tables(
            repetitions.REPETITIONS,
            repetitions.LAYOUT,
            [rows, ranks],
            Wanted(across_security_levels=across_security_levels, is_detailed=True),
        )
    ]


@pytest.mark.parametrize(
    ("tuning", "across_security_levels", "tables"),
    [
        (
            "matched",
            False,
            [("192-bit (2018), 192-bit (2024)", 1), ("128-bit (2018), 128-bit (2024)", 1)],
        ),
        ("matched", True, [("192-bit or 128-bit (2018), 192-bit or 128-bit (2024)", 2)]),
        ("recommended", False, [("192-bit or 128-bit (2018), 192-bit or 128-bit (2024)", 2)]),
    ],
)
def test_levels_are_compared_in_equal_and_what_was_asked_for_in_best(tuning, across_security_levels, tables):
    rows = [
        row("seal", 2.0, tuning=tuning, security_2018=192, security_2024=192, modulus_bits=[40, 40, 56]),
        row("openfhe", 3.0, tuning=tuning),
    ]
    told = [(f"BGV, consecutive mul. Security: {levels}", count) for levels, count in tables]
    assert titles(rows, across_security_levels) == told


def test_the_chains_of_all_depths_and_both_tunings_are_two_tables():
    rows = [
        row(
            tuning=tuning,
            repetitions=count,
            modulus_bits=[40] * (count + 2),
            comparison_group=f"{tuning}/{count}",
        )
        for tuning in ("matched", "recommended")
        for count in (2, 3, 4)
    ]
    assert titles(rows) == [("BGV, consecutive mul. Security: 128-bit (2018), 128-bit (2024)", 3)] * 2


def printed(rows):
    ranks = [{"rank": 1, "ci_low": row["ratio_low"], "ci_high": row["ratio_high"]} | row for row in rows]
    console = Console(file=io.StringIO(), width=120)
    with console.capture() as capture:
        wanted = Wanted(across_security_levels=True, is_detailed=True)
        terminal.show(
            console, listing.tables(repetitions.REPETITIONS, repetitions.LAYOUT, [rows, ranks], wanted)
        )
    _, _, _, *lines = capture.get().splitlines()  # an empty one, the title, and what it is about
    return [line.rstrip() for line in lines]


def test_the_table_tells_everything_in_120_columns():
    rows = [
        row("seal-hexl", 2.0, fastest_variant="seal-hexl", ring_dimension=16384, log_qp=411.0),
        given("openfhe", 32768, 9.0),
    ]
    header, first, second, *_ = printed(rows)
    for word in ("n", "variant", "N", "log QP", "time", "× fastest", "95% interval", "peak", "remaining"):
        assert word in header
    for word in ("3", "seal-hexl", "16384", "smallest-secure", "411", "2 s", "50 MB", "12 bits"):
        assert word in first
    for word in ("openfhe", "32768", "given", "4.50×", "not interleaved"):
        assert word in second


@pytest.mark.parametrize("table", ["2018", "2024"])
def test_unequal_security_is_said_in_the_row(table):
    rows = [row("seal", 2.0), row("openfhe", 3.0, **{f"security_{table}": 0})]
    header, *lines = printed(rows)
    assert table in header
    assert "<128" in lines[1]
    assert "unequal security" in " ".join(" ".join(lines).split())


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, ""),
        ({"log_qp": 150.9}, ""),
        ({"log_qp": 411.0}, "log QP 411 against 150"),
        ({"ring_dimension": 16384}, "N 16384 against 8192"),
        ({"ring_dimension": 16384, "log_qp": 411.0}, "N 16384 against 8192, log QP 411 against 150"),
        ({"security_2018": 0}, "security <128 against 128 bits (2018)"),
        (
            {"security_2018": 192, "log_qp": 120.0},
            "security 192 against 128 bits (2018), log QP 120 against 150",
        ),
        ({"security_2024": 0}, "security <128 against 128 bits (2024)"),
        ({"security_2018": 192, "security_2024": 192}, "security 192 against 128 bits (2018, 2024)"),
        (
            {"security_2018": 0, "security_2024": None},
            "security <128 against 128 bits (2018), security unknown against 128 bits (2024)",
        ),
    ],
)
def test_differences(changes, text):
    assert differences(row(**changes), row()) == text


def test_a_heading_claims_only_what_all_rows_share():
    same = [row(), row("openfhe")]
    assert headings.heading(same) == (
        "BGV, N = 8192, log2(QP) = 150 (50, 40, 60). Security: 128-bit (2018), 128-bit (2024)"
    )
    assert headings.columns(same) == []
    other_primes = [row(), row("openfhe", modulus_bits=[45, 45, 60])]
    assert "log2(QP) = 150 (primes by library)" in headings.heading(other_primes)
    other_ring = [row(), row("openfhe", ring_dimension=16384, security_2024=0)]
    heading = headings.heading(other_ring)
    assert heading == (
        "BGV, log2(QP) = 150 (50, 40, 60). Security: 128-bit (2018), 128-bit or below 128-bit (2024)"
    )
    assert [head(column) for column in headings.columns(other_ring)] == ["N", "2024"]


def test_a_narrow_table_loses_the_parameters_of_rows_before_their_values():
    rows = [row(), row("openfhe", ring_dimension=16384, security_2024=0)]
    values = (Head("median", is_number=True), lambda _: "12.3 ms")
    cells = [of(VARIANT), *headings.cells(rows), values]
    lines = list(terminal.lines(table_of("", "", cells, rows), 20))
    assert lines[0].split() == ["variant", "median"]
    assert " ".join(" ".join(lines).split()).endswith(
        "Hidden columns: N, 2024. To show them, widen the terminal or use --format md"
    )
