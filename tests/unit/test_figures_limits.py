"""Depths and remaining noise budget or precision at a glance: a line per case, a column per variant, marks for what
differs in parameters."""

from __future__ import annotations

from typing import Any

from ciphermark_present import listing, terminal
from ciphermark_present.catalogue import noise as of_noise
from ciphermark_present.printed import Wanted

CHAIN = [40, 40, 50]


def _depth(variant: str, depth: float, **changes: Any) -> dict[str, Any]:
    made = {
        "scheme": "bfv",
        "operation": "mul",
        "data_pattern": "random",
        "threads": 1,
        "library": "SEAL",
        "tuning": "matched",
        "variant": variant,
        "comparison_group": "a",
        "ring_dimension": 8192,
        "modulus_bits": CHAIN,
        "plain_modulus": 65537,
        "scale": None,
        "security_2018": 128,
        "security_2024": 128,
        "depth": depth,
        "is_at_max_repetitions": False,
    }
    return made | changes


def _noise(variant: str, bits: dict[int, float], **changes: Any) -> list[dict[str, Any]]:
    row = _depth(variant, 0, meaning="noise budget", **changes)
    return [{**row, "repetitions": count, "bits": left} for count, left in bits.items()]


def _lines(depths: list[dict[str, Any]], noise: list[dict[str, Any]]) -> list[list[str]]:
    answers = ((of_noise.DEPTH, [depths, []]), (of_noise.NOISE, [noise]))
    found = [
        table
        for figure, rows in answers
        for table in listing.tables(figure, figure.printed[0], rows, Wanted())
    ]
    return [[table.title, table.about, *terminal.lines(table, 80)] for table in found]


def test_variants_of_a_case_stand_in_one_line() -> None:
    rows = [_depth("seal", 4), _depth("pyfhel", 4), _depth("openfhe", 3, modulus_bits=[60, 60, 60])]
    ((title, about, heads, line),) = _lines(rows, [])
    assert title == "BFV, depth. Security: 128-bit (2018), 128-bit (2024)"
    assert "* other parameters" in about
    assert heads.split() == ["operation", "N", "message", "openfhe", "pyfhel", "seal"]
    assert line.split() == ["mul", "8192", "t", "=", "65537", "3*", "4", "4"]


def test_a_search_that_ended_at_its_cap_says_so_and_marks_are_explained_where_they_are() -> None:
    ((_, about, _, line),) = _lines([_depth("seal", 64, is_at_max_repetitions=True)], [])
    assert line.endswith("≥ 64")
    assert "*" not in about


def test_levels_are_never_in_one_table() -> None:
    found = _lines([_depth("seal", 4), _depth("openfhe", 3, security_2018=192)], [])
    assert [table[0].partition(". ")[2] for table in found] == [
        "Security: 192-bit (2018), 128-bit (2024)",
        "Security: 128-bit (2018), 128-bit (2024)",
    ]


def test_bits_are_told_from_fresh_to_the_last_count() -> None:
    noise = _noise("seal", {0: 146.0, 1: 112.0, 8: 0.0}) + _noise("pyfhel", {0: 145.0, 4: 2.0})
    ((_, _, heads, *lines),) = _lines([], noise)
    assert heads.split()[-3:] == ["n", "pyfhel", "seal"]
    assert [line.split("65537")[1].split() for line in lines] == [
        ["4", "145", "→", "2", "–"],
        ["8", "–", "146", "→", "0"],
    ]
