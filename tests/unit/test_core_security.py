from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_core import security
from ciphermark_core.model import Parameters, ParameterSpec

# Bossuat et al. 2024 (ePrint 2024/463), Table 5.2, and HomomorphicEncryption.org 2018 as SEAL ships it: the largest
# log2(QP) of a ternary secret against classical attacks, at 128 / 192 / 256 bits.
PUBLISHED = """
| N | 2024: 128 / 192 / 256 | 2018: 128 / 192 / 256 |
| 1024 | 26 / – / – | 27 / 19 / 14 |
| 2048 | 53 / 36 / 27 | 54 / 37 / 29 |
| 4096 | 106 / 73 / 56 | 109 / 75 / 58 |
| 8192 | 214 / 147 / 114 | 218 / 152 / 118 |
| 16384 | 430 / 297 / 230 | 438 / 305 / 237 |
| 32768 | 868 / 597 / 462 | 881 / 611 / 476 |
| 65536 | 1747 / 1199 / 929 | – |
| 131072 | 3523 / 2411 / 1866 | – |
"""
LEVELS = (128, 192, 256)


def _entries():
    """(table, ring dimension, level, largest log2(QP) or None) for every cell of PUBLISHED."""
    for line in PUBLISHED.strip().splitlines()[1:]:
        ring, *columns = [cell.strip() for cell in line.strip("|").split("|")]
        for table, column in zip(("2024", "2018"), columns, strict=True):
            if column == "–":
                continue
            for level, text in zip(LEVELS, column.split("/"), strict=True):
                yield table, int(ring), level, None if text.strip() == "–" else int(text)


ENTRIES = list(_entries())


def test_every_published_entry_is_looked_at():
    assert len(ENTRIES) == 8 * 3 + 6 * 3
    assert sum(bound is None for *_, bound in ENTRIES) == 2


@pytest.mark.parametrize(("table", "ring_dimension", "level", "bound"), ENTRIES)
def test_limit_is_the_published_one(table, ring_dimension, level, bound):
    assert security.limit(table, ring_dimension, level) == bound


@pytest.mark.parametrize(("table", "ring_dimension", "level", "bound"), ENTRIES)
def test_level_changes_at_the_published_limit(table, ring_dimension, level, bound):
    if bound is None:
        assert security.level(table, ring_dimension, 1.0) < level
        return
    lower = {128: 0, 192: 128, 256: 192}[level]
    assert security.level(table, ring_dimension, bound) == level
    assert security.level(table, ring_dimension, math.nextafter(bound, math.inf)) == lower


@pytest.mark.parametrize("table", ["2018", "2024"])
@pytest.mark.parametrize("ring_dimension", [2, 512, 1023])
def test_below_the_smallest_ring_there_is_no_security(table, ring_dimension):
    assert security.limit(table, ring_dimension, 128) is None
    assert security.level(table, ring_dimension, 1.0) == 0


@pytest.mark.parametrize(
    ("table", "ring_dimension", "row"),
    [
        ("2018", 65536, 32768),
        ("2018", 131072, 32768),
        ("2024", 262144, 131072),
        ("2024", 5000, 4096),
        ("2018", 8191, 4096),
    ],
)
def test_a_ring_without_a_row_gets_the_next_smaller_one(table, ring_dimension, row):
    for level in LEVELS:
        assert security.limit(table, ring_dimension, level) == security.limit(table, row, level)


@given(
    table=st.sampled_from(["2018", "2024"]),
    ring_dimension=st.integers(0, 18).map(lambda power: 1 << power),
    log_qp=st.floats(1, 4000),
    more=st.floats(0, 500),
)
def test_level_falls_with_the_modulus_and_rises_with_the_ring(table, ring_dimension, log_qp, more):
    here = security.level(table, ring_dimension, log_qp)
    assert security.level(table, ring_dimension, log_qp + more) <= here
    assert security.level(table, 2 * ring_dimension, log_qp) >= here


@given(ring_dimension=st.integers(10, 15).map(lambda power: 1 << power), log_qp=st.floats(1, 1000))
def test_the_guidelines_of_2024_are_never_the_laxer_ones(ring_dimension, log_qp):
    assert security.level("2024", ring_dimension, log_qp) <= security.level("2018", ring_dimension, log_qp)


def test_both_verdicts_count_the_special_primes():
    """SEAL's default at N = 8192 passes the table of 2018 and misses that of 2024; without P it would pass both."""
    chain = (0x7FFFFFD8001, 0x7FFFFFC8001, 0xFFFFFFFC001, 0xFFFFFF6C001, 0xFFFFFEBC001)
    spec = ParameterSpec("bfv", 8192, plain_modulus=1032193)
    made = Parameters(spec, 8192, chain[:4], chain[4:], 8192, plain_modulus=1032193)
    assert made.modulus_bits == (43, 43, 44, 44, 44)
    assert made.log_qp == pytest.approx(218, abs=0.001)
    assert made.log_q == pytest.approx(174, abs=0.001)
    assert (made.security_2018, made.security_2024) == (128, 0)
