"""Every chart is valid Vega-Lite and can be drawn; colours can be told apart and read."""

from __future__ import annotations

import itertools
import re
from importlib.resources import files

import pytest

from ciphermark_dashboards import rendering
from ciphermark_dashboards.charts import case, learning, operations, quality, ratios, style

PLACE = {"operation": "mul", "scheme": "bfv", "ring_dimension": 8192, "size": 8192, "ciphertexts": 1}
TIME = {"median": 0.002, "ci_low": 0.0019, "ci_high": 0.0021, "comparison_key": "c"}
RATIO = {"ratio": 2.0, "ci_low": 1.9, "ci_high": 2.1, "verdict": "faster"}


def of_variants(*variants: str, **columns: object) -> list[dict[str, object]]:
    return [{"variant": name, **PLACE, **columns} for name in variants]


PAIR = ("seal", "tenseal")
CHARTS = {
    "leaderboard": (ratios.leaderboard, of_variants(*PAIR, mean_ratio=1.5, common_cases=3)),
    "speedup": (ratios.speedup, of_variants("seal", variant_on="seal-hexl", **RATIO)),
    "two runs": (
        ratios.two_runs,
        of_variants(
            *PAIR,
            **RATIO,
            metric="time",
            phase="operation",
            repetitions=None,
            data_pattern="random",
            ratio_low=1.9,
            ratio_high=2.1,
        ),
    ),
    "latency": (operations.latency_against_n, of_variants(*PAIR, **TIME)),
    "latency by size": (
        operations.latency_against_size,
        of_variants("seal", **TIME) + of_variants("seal", **TIME | {"size": 16}),
    ),
    "noise": (quality.noise, of_variants(*PAIR, repetitions=2, bits=100.0)),
    "depth": (quality.depth, of_variants(*PAIR, depth=4)),
    "memory": (quality.peak_memory, of_variants(*PAIR, peak_bytes=5e7)),
    "sizes": (quality.object_sizes, of_variants(*PAIR, object="ciphertext", compression="none", bytes=1e6)),
    "chains": (learning.chains, of_variants(*PAIR, **TIME, repetitions=3, is_least=True)),
    "learning": (learning.phases, of_variants(*PAIR, prepare_s=0.1, train_s=None, infer_s=0.2)),
    "samples": (
        case.samples,
        of_variants(*PAIR, phase="operation", process=0, ordinal=1, value=0.001, loops=3, is_warmup=False),
    ),
}


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_valid_and_drawn(name):
    draw, rows = CHARTS[name]
    chart = draw(rows)
    chart.to_dict(validate=True)
    text = rendering.svg(chart.to_dict(validate=False))
    assert text.startswith("<svg")
    assert "NaN" not in text


@pytest.mark.parametrize("name", CHARTS)
def test_nothing_is_drawn_of_nothing(name):
    draw, _ = CHARTS[name]
    assert draw([]) is None


def test_the_leaderboard_keeps_the_order_of_its_rows():
    rows = [
        {"variant": name, "mean_ratio": ratio, "common_cases": 1}
        for name, ratio in (("tenseal", 1.0), ("seal", 2.0), ("pyfhel", 3.0))
    ]
    text = rendering.svg(ratios.leaderboard(rows).to_dict())
    places = [text.index(f">{row['variant']}<") for row in rows]
    assert places == sorted(places)


def test_no_two_variants_look_alike():
    names = [
        "seal",
        "seal-hexl",
        "tenseal",
        "pyfhel",
        "openfhe",
        "helib",
        "lattigo",
        "mine",
        "yours",
        "theirs",
    ]
    looks = [style.look(name, names) for name in names]
    assert len({colour for colour, _ in looks}) == len(names)
    assert len({shape for _, shape in looks}) == len(names)


def luminance(colour: str) -> float:
    """As WCAG 2 has it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def themes() -> list[dict[str, str]]:
    text = (files("ciphermark_dashboards") / "assets" / "style.css").read_text()
    blocks = re.findall(r"\{([^{}]*--ground:[^{}]*)\}", text)
    return [dict(re.findall(r"(--[\w-]+):\s*(#[0-9a-f]{6})", block)) for block in blocks]


@pytest.mark.parametrize("theme", themes())
def test_texts_can_be_read_in_every_theme(theme):
    inks = ("--text", "--muted", "--accent", "--warn", "--bad", "--good")
    for ink, paper in itertools.product(inks, ("--ground", "--raised")):
        assert contrast(theme[ink], theme[paper]) >= 4.5, (ink, paper)
    assert contrast(theme["--on-accent"], theme["--accent"]) >= 4.5


def test_marks_are_seen_in_every_theme():
    for theme, name in itertools.product(
        themes(), ("seal", "seal-hexl", "tenseal", "pyfhel", "openfhe", "helib", "lattigo")
    ):
        assert contrast(style.look(name, [name])[0], theme["--ground"]) >= 3, name
