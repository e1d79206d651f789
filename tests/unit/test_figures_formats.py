from __future__ import annotations

import pytest

from ciphermark_present import formats


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
        (0.9995, "1 s"),
        (999.6e-6, "1 ms"),
        (999.4e-6, "999 µs"),
        (999.9e-9, "1 µs"),
        (0.0, "0 ns"),
    ],
)
def test_duration(seconds, text):
    assert " ".join(formats.duration(seconds)) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0042, "s", "4.2 ms"),
        (690e6, "bytes", "690 MB"),
        (131_177.0, "bytes", "131 kB"),
        (96.0, "bytes", "96 B"),
        (0.0, "bytes", "0 B"),
        (999.0, "bytes", "999 B"),
        (999_499.0, "bytes", "999 kB"),
        (999_500.0, "bytes", "1 MB"),
        (999_700_000.0, "bytes", "1 GB"),
        (1_234e9, "bytes", "1234 GB"),
        (12.0, "bits", "12 bits"),
        (300.0, "operations", "300 operations"),
        (1.0, "flag", "1"),
        (None, "s", "–"),
    ],
)
def test_quantity(value, unit, text):
    assert formats.brief_quantity(value, unit) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(999_499.0, "999 kB"), (999_700.0, "1.00 MB"), (999_700_000.0, "1.00 GB"), (1_234e9, "1,234 GB")],
)
def test_sizes_that_round_to_a_thousand_take_the_next_unit(value, text):
    assert formats.size(value) == text


@pytest.mark.parametrize(
    ("low", "high", "factor", "text"),
    [(1.0, 2.0, 1e3, "[1000, 2000]"), (None, 2.0, 1.0, "too few samples"), (0.5, 0.75, 1.0, "[0.5, 0.75]")],
)
def test_interval(low, high, factor, text):
    assert formats.interval(low, high, factor) == text


@pytest.mark.parametrize(("bits", "text"), [(0, "below 128-bit"), (192, "192-bit"), (None, "unknown")])
def test_security(bits, text):
    assert formats.security(bits) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.6, "2.60×"),
        (1, "1.00×"),
        (0.984, "0.984×"),
        (9.996, "10.0×"),
        (99.96, "100×"),
        (640.4, "640×"),
        (None, ""),
    ],
)
def test_ratio(value, text):
    assert formats.ratio(value) == text


def test_a_ratio_has_an_exponent_where_the_reader_wants_exponents():
    with formats.written(formats.Notation(is_scientific=True)):
        assert formats.ratio(2.6) == "2.60e+00×"


@pytest.mark.parametrize(
    ("notation", "texts"),
    [
        (formats.Notation(), ("4.2 ms", "131 kB", "131 kB", "[4, 4.5]")),
        (formats.Notation("us"), ("4200 µs", "131 kB", "131 kB", "[4000, 4500]")),
        (formats.Notation(byte_unit="MiB"), ("4.2 ms", "0.125 MiB", "0.125 MiB", "[4, 4.5]")),
        (
            formats.Notation("s", "B", is_scientific=True),
            ("4.20e-03 s", "1.31e+05 B", "1.31e+05 B", "[4.00e-03, 4.50e-03]"),
        ),
    ],
)
def test_readers_choose_units_and_exponents(notation, texts):
    with formats.written(notation):
        time, interval = formats.time_with_interval(0.0042, 0.004, 0.0045)
        found = (time, formats.brief_quantity(131_072.0, "bytes"), formats.size(131_072.0), interval)
    assert found == texts
    assert formats.brief_quantity(0.0042, "s") == "4.2 ms"


@pytest.mark.parametrize(("value", "text"), [(2e-5, "20 µs"), (0.005, "5 ms"), (1.5, "1.5 s")])
def test_a_tick_has_no_zeros_that_are_not_measured(value, text):
    assert formats.tick_seconds(value) == text


@pytest.mark.parametrize(("value", "text"), [(5e7, "50 MB"), (2e6, "2 MB"), (512, "512 B")])
def test_a_tick_of_bytes_is_as_short(value, text):
    assert formats.tick_size(value) == text
