from __future__ import annotations

import pytest

from ciphermark_figures import formats


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (3.0, "3 s"),
        (1.0, "1 s"),
        (0.9994, "999 ms"),
        (0.0123456, "12.3 ms"),
        (1e-3, "1 ms"),
        (1.5e-6, "1.5 µs"),
        (999e-9, "999 ns"),
        (5e-9, "5 ns"),
        (0.1e-9, "0.1 ns"),
        (1234.0, "1234 s"),
    ],
)
def test_duration(seconds, text):
    assert " ".join(formats.duration(seconds)) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0042, "s", "4.2 ms"),
        (690e6, "bytes", "690 MB"),
        (131_177.0, "bytes", "0.131 MB"),
        (12.0, "bits", "12 bits"),
        (300.0, "operations", "300 operations"),
        (1.0, "flag", "1"),
        (None, "s", "–"),
    ],
)
def test_quantity(value, unit, text):
    assert formats.brief_quantity(value, unit) == text


@pytest.mark.parametrize(
    ("low", "high", "factor", "text"),
    [(1.0, 2.0, 1e3, "[1000, 2000]"), (None, 2.0, 1.0, "too few samples"), (0.5, 0.75, 1.0, "[0.5, 0.75]")],
)
def test_interval(low, high, factor, text):
    assert formats.interval(low, high, factor) == text


@pytest.mark.parametrize(("bits", "text"), [(0, "under 128 bits"), (192, "192 bits"), (None, "unknown")])
def test_level(bits, text):
    assert formats.level_or_unknown(bits) == text
