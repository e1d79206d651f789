"""Every chart is valid Vega-Lite and can be drawn; colours can be told apart and read."""

from __future__ import annotations

import itertools
import json
import re
from functools import cache
from importlib.resources import files

import pictures
import pytest

from ciphermark_adapters import registry
from ciphermark_core.controls import visible
from ciphermark_dashboards import rendering
from ciphermark_dashboards.filters import Selection
from ciphermark_dashboards.rendering import Filled
from ciphermark_dashboards.templating import TEMPLATES
from ciphermark_present import by_ring, charting, noise_lines, plots, ranks, theme
from ciphermark_present.catalogue import (
    bootstrapping,
    case,
    comparing,
    layers,
    memory,
    noise,
    probes,
    programs,
    repetitions,
    times,
    workloads,
)
from ciphermark_present.figure import Figure
from ciphermark_present.query import Answer
from ciphermark_workloads.learning import figures as learning

PLACE = {
    "operation": "mul",
    "label": "mul",
    "scheme": "bfv",
    "ring_dimension": 8192,
    "modulus_bits": [43, 43, 44, 44, 44],
    "vector_length": 8192,
    "security_2018": 128,
    "comparison_group": "c",
}
TIME = {"median": 0.002, "ci_low": 0.0019, "ci_high": 0.0021}
RATIO = {"ratio": 2.0, "ci_low": 1.9, "ci_high": 2.1, "verdict": "faster"}


def of_variants(*variants: str, **columns: object) -> list[dict[str, object]]:
    return [{"variant": name, **PLACE, **columns} for name in variants]


PAIR = ("seal", "tenseal")
CHARTS = {
    "bootstrapping": (
        bootstrapping.draw_times,
        [
            *of_variants(
                "lattigo",
                slots=32768,
                threads=1,
                bootstrapping="level budget 4 + 3",
                secret="sparse ternary",
                median=16.0,
                amortized_s=5.4e-5,
                precision_after=26.6,
            ),
            *of_variants(
                "openfhe",
                slots=4096,
                threads=2,
                bootstrapping="level budget 3 + 3",
                secret=None,
                median=9.0,
                amortized_s=None,
                precision_after=11.0,
            ),
        ],
    ),
    "leaderboard": (
        times.draw_leaderboard,
        of_variants(
            *PAIR,
            mean_ratio=1.5,
            ci_low=1.2,
            ci_high=1.9,
            common_cases=3,
            case_ratios=[1.2, 1.5, 1.9],
            is_hollow=False,
            is_composite=False,
            tuning="matched",
        ),
    ),
    "speedup": (times.draw_speedup, of_variants("seal", variant_on="seal-hexl", **RATIO)),
    "two runs": (
        comparing.draw_two_runs,
        of_variants(
            *PAIR,
            **RATIO,
            metric="time",
            phase="evaluate",
            repetitions=None,
            data_pattern="random",
            ratio_low=1.9,
            ratio_high=2.1,
        ),
    ),
    "latency": (times.draw_latency, of_variants(*PAIR, **TIME)),
    "latency by size": (
        times.draw_latency_by_size,
        of_variants("seal", **TIME) + of_variants("seal", **TIME | {"vector_length": 16}),
    ),
    "by data": (times.draw_by_data, of_variants(*PAIR, **RATIO)),
    **pictures.CHARTS,
    "flame graph": (
        probes.draw_flame,
        of_variants(
            "seal",
            function="seal::ntt",
            place="evaluate › seal::ntt",
            phase="evaluate",
            depth=2,
            start=0.0,
            end=0.5,
            share=0.5,
            own_share=0.4,
            case_info_id=1,
            threads=1,
        )
        * 3,
    ),
    "remaining bits": (noise.draw_remaining_bits, of_variants(*PAIR, bits=30.5)),
    "depth": (noise.draw_depth, of_variants(*PAIR, depth=4, is_at_max_repetitions=False)),
    "memory": (memory.draw_memory, of_variants(*PAIR, peak_bytes=5e7)),
    "sizes": (memory.draw_sizes, of_variants(*PAIR, object="ciphertext", compression="none", bytes=1e6)),
    "repetitions": (
        repetitions.draw_repetitions,
        of_variants(*PAIR, **TIME, repetitions=3, ring_dimension_is_minimum=True, tuning="matched"),
    ),
    "learning": (
        learning.draw_phases,
        of_variants(*PAIR, prepare_s=0.1, train_s=None, infer_s=0.2, options=None, threads=1),
    ),
    "workloads": (
        workloads.draw_stages,
        of_variants(*PAIR, metric="time", stage="answer", part="", median=0.2, options=None, threads=1),
    ),
    "layers": (
        layers.draw_layers,
        of_variants(
            *PAIR,
            layer="dense",
            position=1,
            layer_time=0.02,
            case_key="c",
            dimensions={},
            threads=2,
        ),
    ),
    "programs": (
        programs.draw_counts,
        of_variants(*PAIR, stage="infer", program="d" * 64, counted="mul", level=2, n=3, options=None),
    ),
    "samples": (
        case.draw_samples,
        of_variants(
            *PAIR,
            phase="evaluate",
            process=0,
            ordinal=1,
            value=0.0012,
            corrected=0.001,
            slowdown=1.2,
            loops=3,
            is_warmup=False,
            is_disturbed=True,
        ),
    ),
}


@cache
def drawn(name):
    """The specification of a chart, and its picture."""
    draw, rows = CHARTS[name]
    chart = theme.dressed(draw(rows).to_dict(validate=True))
    return chart, rendering.svg(chart)


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_valid_and_drawn_as_wide_as_a_page(name):
    """Whatever the number of small charts."""
    _, text = drawn(name)
    assert text.startswith("<svg")
    assert "NaN" not in text
    assert 700 <= float(re.search(r'<svg[^>]* width="([\d.]+)"', text)[1]) <= 1300


HOSTILE = "\x1b[2J\u202e</script>\x07"
OF_ARCHIVES = ("variant", "variant_on", "label", "operation", "options", "layer", "object", "stage")


def strings(value):
    """Every text in a specification."""
    if isinstance(value, dict):
        return [text for item in value.items() for each in item for text in strings(each)]
    if isinstance(value, list):
        return [text for each in value for text in strings(each)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("name", CHARTS)
def test_what_archives_name_cannot_control_who_reads_a_chart(name):
    """In a page, a picture, and the rows inside; what is drawn by the names still is."""
    draw, rows = CHARTS[name]
    hostile = [
        {
            column: f"{value}{HOSTILE}" if column in OF_ARCHIVES and value else value
            for column, value in row.items()
        }
        for row in rows
    ]
    figure = Figure(name="x", title="", lead="", view="", columns=(), chart=draw)
    answer = Answer(tuple(hostile[0]), [tuple(row.values()) for row in hostile])
    chart = Filled(figure, Selection((("run", "r"),)), answer).specification
    assert any("␛" in text for text in strings(chart))
    page = TEMPLATES.from_string("{{ x | tojson }}").render(x=chart)
    for text in (*strings(chart), rendering.svg(chart), page):
        assert visible(text) == text
    assert "</script>" not in page
    tests = [text for text in strings(chart) if text.startswith("datum.variant === ")]
    names = {row["variant"] for row in chart["data"]["values"] if "variant" in row}
    assert {json.loads(text.removeprefix("datum.variant === ")) for text in tests} <= names


WITHOUT_LEGEND = {
    "flame graph",
    "leaderboard",
    "speedup",
    "layers",
    "programs",
    *pictures.WITHOUT_LEGEND,
}  # their axes and marks have names


@pytest.mark.parametrize("name", sorted(CHARTS.keys() - WITHOUT_LEGEND))
def test_a_legend_tells_what_marks_mean(name):
    """Vega-Lite leaves it out as a whole where one channel of a chart in layers has none of its own."""
    chart, text = drawn(name)
    assert "role-legend-title" in text
    assert "role-legend-symbol" in text
    assert chart["config"]["legend"]["titlePadding"] > 10  # a large symbol's edge and its title do not touch


def test_layers_of_several_databases_stand_apart_by_the_options_that_differ():
    draw, (row, _) = CHARTS["layers"]
    several = [
        {**row, "comparison_group": key, "dimensions": {"elements": count, "seed": 1}}
        for key, count in (("a", 1024), ("b", 4096))
    ]
    chart = draw(several)
    assert [mark["panel"] for mark in shown(chart)] == [
        f"mul, bfv, 128 bits, 2 threads\nelements {count}" for count in (1024, 4096)
    ]
    text = rendering.svg(chart.to_dict(validate=False))
    assert ">elements 1024<" in text  # a line of its own


def test_layers_beside_each_other_tell_the_parameters_that_differ():
    draw, (one, other) = CHARTS["layers"]
    chart = draw([one, {**other, "ring_dimension": 16384, "comparison_group": "another"}])
    found = {mark["bar"].partition(", ")[2] for mark in shown(chart)}
    assert len(found) == 2
    assert any("16384" in parameters for parameters in found)


@pytest.mark.parametrize("name", CHARTS)
def test_nothing_is_drawn_of_nothing(name):
    draw, _ = CHARTS[name]
    assert draw([]) is None


@pytest.mark.parametrize(
    ("draw", "row", "figure"),
    [
        (times.draw_latency, TIME, 0.002),
        (times.draw_by_data, RATIO, 2.0),
        (times.draw_speedup, RATIO | {"variant_on": "seal-hexl"}, 2.0),
    ],
)
def test_a_figure_without_an_interval_has_a_whisker_of_no_length(draw, row, figure):
    """Vega complains of a plot in which no whisker has an end."""
    chart = draw(of_variants("seal", **row | {"ci_low": None, "ci_high": None}))
    assert [(mark["from"], mark["to"]) for mark in shown(chart)] == [(figure, figure)]
    (ends,) = {(mark["from"], mark["to"]) for mark in shown(draw(of_variants("seal", **row)))}
    assert ends == (row["ci_low"], row["ci_high"])


def test_the_leaderboard_keeps_the_order_of_its_rows():
    equal = {"tuning": "matched"}
    rows = [
        {
            "variant": name,
            "label": name,
            "mean_ratio": ratio,
            "ci_low": None,
            "ci_high": None,
            "common_cases": 1,
            "case_ratios": [ratio],
            "is_hollow": False,
            "is_composite": False,
            **equal,
        }
        for name, ratio in (("tenseal", 1.0), ("seal", 2.0), ("pyfhel", 3.0))
    ]
    text = rendering.svg(times.draw_leaderboard(rows).to_dict())
    places = [text.index(f">{row['variant']}<") for row in rows]
    assert places == sorted(places)


def shown(chart) -> list[dict[str, object]]:
    """The rows inside a chart."""
    return chart.to_dict()["data"]["values"]


@pytest.mark.parametrize(
    ("scheme", "sizes", "expected"),
    [("bfv", (16, 8192, 65536), 8192), ("ckks", (16, 4096, 8192), 4096), ("bfv", (65536, 16384), 16384)],
)
def test_a_chart_shows_one_full_ciphertext(scheme, sizes, expected):
    rows = [row for size in sizes for row in of_variants(*PAIR, **TIME, scheme=scheme, vector_length=size)]
    assert {row["vector_length"] for row in charting.fullest(rows)} == {expected}
    assert len(shown(times.draw_latency(rows))) == len(PAIR)
    assert len(shown(times.draw_latency_by_size(rows))) == len(PAIR) * len(sizes)


NOISE = {"meaning": "noise budget", "repetitions": 2, "bits": 9.0}


def test_two_chains_at_one_n_are_told_apart():
    short, long = ([43, 43, 44, 44, 44], [60, 60, 60])
    rows = [
        row
        for key, bits in (("c", short), ("d", long))
        for row in of_variants(*PAIR, **NOISE, comparison_group=key, modulus_bits=bits)
    ]
    rows[-1]["modulus_bits"] = [59, 60, 60]  # a library that changes the chain it is given
    assert [row["ring"] for row in charting.with_rings(rows)] == ["8192, 218 bits"] * 2 + [
        "8192, 180 bits"
    ] * 2
    assert {row["line"] for row in shown(noise_lines.draw(rows))} == {
        "N = 8192, 218 bits",
        "N = 8192, 180 bits",
    }
    assert {row["ring"] for row in charting.with_rings(rows[:2])} == {"8192"}


def consecutive(count, **changes):
    bits = [40] * (count + 2)
    known = {"tuning": "matched", "ring_dimension_is_minimum": True, "comparison_group": f"{changes}/{count}"}
    return of_variants(*PAIR, **TIME | known | changes, repetitions=count, modulus_bits=bits)


def test_the_chains_of_all_depths_are_one_line_and_tunings_two_charts():
    rows = [
        row
        for count in (2, 3, 4)
        for name in ("matched", "recommended")
        for row in consecutive(count, tuning=name)
    ]
    for count in (100, 300):  # a full vector of additions hides no short one of products
        rows += consecutive(count, label="add", vector_length=4096)
    assert {
        (row["panel"], row["dash"], row["repetitions"]) for row in shown(repetitions.draw_repetitions(rows))
    } == {
        *(
            (f"mul, bfv, {name} tuning", "smallest secure N", n)
            for name in ("matched", "recommended")
            for n in (2, 3, 4)
        ),
        *(("add, bfv, matched tuning", "smallest secure N", count) for count in (100, 300)),
    }


@pytest.mark.parametrize(
    ("rings", "choices"), [((8192, 16384), {"N = 8192", "N = 16384"}), ((8192,), {"given N"})]
)
def test_given_rings_are_lines_of_their_own_where_a_suite_varies_them(rings, choices):
    rows = [row for n in rings for row in consecutive(2, ring_dimension=n, ring_dimension_is_minimum=False)]
    panels = {row["panel"] for row in shown(repetitions.draw_repetitions(rows))}
    assert panels == (
        {f"mul, bfv, {choice}" for choice in choices} if len(choices) > 1 else {"mul, bfv, given N"}
    )


@pytest.mark.parametrize(
    ("draw", "row"),
    [
        (noise.draw_remaining_bits, {"bits": 9.0}),
        (noise.draw_depth, {"depth": 4, "is_at_max_repetitions": False}),
        (memory.draw_memory, {"peak_bytes": 5e7}),
        (memory.draw_sizes, {"object": "ciphertext", "compression": "none", "bytes": 1e6}),
    ],
)
def test_a_chart_mixes_no_sizes(draw, row):
    rows = of_variants(*PAIR, **row) + of_variants(*PAIR, **row, vector_length=16, comparison_group="d")
    assert len(shown(draw(rows))) == len(PAIR)


def test_a_chart_of_too_many_samples_says_how_many_it_shows(monkeypatch):
    monkeypatch.setattr(case, "_MAX_SAMPLES", 2_000)
    draw, (row, _) = CHARTS["samples"]
    assert "title" not in draw([row] * 2_000).to_dict(validate=False)
    chart = draw([row] * 5_000).to_dict(validate=False)
    assert chart["title"] == "One of 3 samples is drawn; all 5,000 are in the CSV"
    assert len(chart["data"]["values"]) == 1_667


def symbols(chart) -> list[tuple[str, str]]:
    """Where each mark is drawn, and its outline."""
    paths = re.findall(r"<path ([^>]*)/?>", rendering.svg(theme.dressed(chart.to_dict())))
    marks = [path for path in paths if 'role="graphics-symbol"' in path and "translate" in path]
    return [
        (re.search(r"translate\(([^)]*)\)", mark)[1], re.search(r' d="([^"]*)"', mark)[1]) for mark in marks
    ]


def by_n(rows):
    """The chart of times at every N."""
    cases = charting.with_ends(rows, "median")
    return by_ring.by_ring(cases, times._latency(cases))


@pytest.mark.parametrize(
    ("draw", "rows"),
    [
        (noise_lines.draw, [of_variants(*PAIR, **NOISE | {"repetitions": count}) for count in (0, 1, 2)]),
        (
            by_n,
            [
                [{**row, "ring_dimension": 4096} for row in of_variants(*PAIR, **TIME)],
                of_variants(*PAIR, **TIME),
            ],
        ),
        (times.draw_latency_by_size, [of_variants(*PAIR, **TIME, vector_length=size) for size in (16, 8192)]),
    ],
)
def test_equal_values_do_not_hide_each_other_and_are_not_moved(draw, rows):
    """Variants that agree have one place, where their numbers are, and marks of different outlines."""
    found = symbols(draw([row for group in rows for row in group]))
    assert len(found) == len(set(found)) == len(PAIR) * len(rows)
    assert len({place for place, _ in found}) == len(rows)


@pytest.mark.parametrize("name", ["memory", "depth"])
def test_n_is_a_logarithmic_axis_to_base_2_on_which_each_has_its_true_place(name):
    draw, (row, _) = CHARTS[name]
    chart = draw([{**row, "ring_dimension": n, "vector_length": n} for n in (2048, 4096, 32768)])
    x = chart.to_dict()["spec"]["layer"][0]["encoding"]["x"]
    assert (x["field"], x["type"], x["scale"]["type"], x["scale"]["base"]) == (
        "ring_dimension",
        "quantitative",
        "log",
        2,
    )
    assert x["axis"]["values"] == [2048, 4096, 32768]
    places = sorted({float(place.partition(",")[0]) for place, _ in symbols(chart)})
    assert places[2] - places[1] == pytest.approx(3 * (places[1] - places[0]))


def test_noise_falls_over_counts_with_true_distances():
    rows = [
        row
        for count in (0, 1, 2, 4)
        for row in of_variants("seal", **NOISE | {"repetitions": count, "bits": 100.0 - 20 * count})
    ]
    places = [tuple(map(float, place.split(","))) for place, _ in symbols(noise_lines.draw(rows))]
    slopes = {round((y - places[0][1]) / (x - places[0][0]), 6) for x, y in places[1:]}
    assert len(slopes) == 1  # a straight line


def at(ring, *variants, **columns):
    """Rows of variants at one N."""
    return of_variants(*variants, **TIME | {"ring_dimension": ring, "vector_length": ring} | columns)


def test_tunings_are_charts_and_the_shorter_chain_at_one_n_is_hollow():
    rows = [
        row
        for tuning in ("matched", "recommended")
        for n in (4096, 8192)
        for row in at(n, *PAIR, tuning=tuning)
    ]
    rows += at(8192, "seal", tuning="matched", modulus_bits=[40] * 3, comparison_group="short")
    chart = by_n(rows)
    assert {(row["panel"], row["ring_dimension"]) for row in shown(chart) if row["is_hollow"]} == {
        ("mul", 8192)
    }
    assert {row["panel"] for row in shown(chart)} == {"mul", "mul, recommended tuning"}
    layers = chart.to_dict()["spec"]["layer"]
    assert [layer["mark"]["filled"] for layer in layers if layer["mark"]["type"] == "point"] == [True, False]


def test_a_small_chart_of_fewer_than_three_marks_is_a_row_of_the_table():
    rows = [row for n in (4096, 8192) for row in at(n, *PAIR, label="mul")] + at(8192, *PAIR, label="add")
    chart = by_n(rows).to_dict()
    assert {row["panel"] for row in chart["data"]["values"]} == {"mul"}
    assert chart["title"] == ["In the table only: add"]


@pytest.mark.parametrize(
    "rows",
    [
        at(8192, "seal", label="add") + at(4096, "seal", label="add") + at(8192, *PAIR, label="mul"),
        at(8192, *PAIR, "pyfhel", label="add") + at(8192, *PAIR, label="mul"),
    ],
)
def test_where_no_small_chart_has_three_marks_or_there_is_one_n_all_are_rows_of_one_chart(rows):
    chart = by_n(rows).to_dict()
    assert "facet" not in chart
    several = len({row["ring_dimension"] for row in rows}) > 1
    assert {row["panel"] for row in chart["data"]["values"]} == (
        {"add, N = 4096", "add, N = 8192", "mul, N = 8192"} if several else {"add", "mul"}
    )
    assert chart.get("title") == (None if several else ["N = 8192"])


@pytest.mark.parametrize(
    ("counts", "drawn", "title"),
    [
        ({"a": 1}, set(), ["In the table only: a"]),
        ({"a": 3, "b": 4}, {"a", "b"}, []),
        ({"a": 3, "b": 2, "c": 1}, {"a"}, ["In the table only: b; c"]),
        ({}, set(), []),
        (
            {str(number): 3 for number in range(14)},
            set("0123456789") | {"10", "11"},
            ["In the table only: 12; 13"],
        ),
    ],
)
def test_small_charts_are_at_most_twelve_of_three_marks_and_others_are_named(counts, drawn, title):
    rows, notes = charting.enough(
        [{"what": name} for name, count in counts.items() for _ in range(count)], "what"
    )
    assert {row["what"] for row in rows} == drawn
    assert notes == title


def test_a_small_chart_of_equal_values_is_a_sentence():
    apart = [row for n in (4096, 8192) for row in at(n, *PAIR, label="mul", peak_bytes=n * 1e4)]
    more = [row for n in (4096, 8192) for row in at(n, *PAIR, label="add", peak_bytes=n * 1e3)]
    equal = [
        row for label in ("rotate", "sub") for row in at(8192, *PAIR, "pyfhel", label=label, peak_bytes=143e6)
    ]
    chart = memory.draw_memory(apart + more + equal).to_dict()
    assert {row["panel"] for row in chart["data"]["values"]} == {"mul", "add"}
    assert chart["title"] == [f"{charting.thin('143 MB')}, all 3, at N = 8192: rotate; sub"]


def test_equal_values_are_stated_once():
    depths = {"seal": 4, "tenseal": 4, "pyfhel": 4}
    rows = [of_variants(name, depth=depth, is_at_max_repetitions=False)[0] for name, depth in depths.items()]
    assert sorted(row["note"] for row in shown(noise.draw_depth(rows))) == ["", "", "4, all 3"]
    rows[0]["depth"] = 5
    assert {row["note"] for row in shown(noise.draw_depth(rows))} == {""}


def test_workloads_that_differ_in_anything_stand_apart():
    same = {"metric": "time", "stage": "answer", "part": "", "median": 0.2, "options": None, "threads": 1}
    other = ({"options": "side 8"}, {"scheme": "ckks"}, {"security_2018": 256}, {"threads": 2})
    rows = [row for changes in ({}, *other) for row in of_variants("seal", **same | changes)]
    assert [row["workload"] for row in shown(workloads.draw_stages(rows))] == [
        "mul, 8,192, BFV, 128 bits",
        "mul, side 8, BFV, 128 bits",
        "mul, 8,192, CKKS, 128 bits",
        "mul, 8,192, BFV, 256 bits",
        "mul, 8,192, BFV, 128 bits, 2 threads",
    ]


def test_rows_of_workloads_are_short_and_in_the_order_of_their_stages():
    same = {"metric": "time", "part": "", "median": 0.2, "options": None, "threads": 2, "security_2018": None}
    own = {"seal": ([40, 40], "c"), "lattigo": ([60, 60, 60], "d")}
    rows = [
        row
        for stage in ("iteration-10", "iteration-2", "prepare")
        for variant, (bits, group) in own.items()
        for row in of_variants(
            variant, **same, stage=stage, modulus_bits=bits, tuning=variant, comparison_group=group
        )
    ]
    chart = workloads.draw_stages(rows)
    assert chart.to_dict()["title"] == ["All: BFV, 2 threads"]
    assert list(dict.fromkeys(row["panel"] for row in shown(chart))) == [
        f"{stage}: mul, 8,192, {bits} bits"
        for stage in ("prepare", "iteration-2", "iteration-10")
        for bits in (80, 180)
    ]


def test_every_shape_of_a_library_has_a_picture():
    module = TEMPLATES.get_template("marks.html").make_module
    looks = {name: declared.look for name, declared in registry.declarations().items() if declared.look}
    looks |= {colour: (colour, shape) for colour, shape in charting._OTHERS}
    pictures_of = {
        shape: "".join(str(module({"look": {"v": (colour, shape)}}).shape("v", False)).split())
        for colour, shape in looks.values()
    }
    assert len(set(pictures_of.values())) == len(pictures_of)
    glyph = str(module({"look": looks}).glyph("lattigo", False, 14))
    light = looks["lattigo"][0]
    assert f"--c:{light};--d:{theme.in_the_dark(light)}" in glyph, "the dark theme has its own colour"


def test_workloads_of_unequal_security_stand_apart():
    times = {"prepare_s": 0.1, "train_s": 0.3, "infer_s": 0.2, "options": None, "threads": 1}
    rows = of_variants("seal", **times) + of_variants("openfhe", **times, security_2018=256)
    rows += of_variants("seal", **times, scheme="ckks")
    rows += of_variants("seal", **times | {"options": "inputs_per_pass 4", "threads": 2}, scheme="ckks")
    failed = of_variants("tenseal", **dict.fromkeys(times), security_2018=None)
    assert [*dict.fromkeys(row["workload"] for row in shown(learning.draw_phases(rows + failed)))] == [
        "mul, bfv, 128 bits",
        "mul, bfv, 256 bits",
        "mul, ckks",
        "mul, inputs_per_pass 4, ckks, 2 threads",
    ]


def counted(program: str, variant: str) -> dict[str, object]:
    (row,) = of_variants(
        variant, stage="infer", program=program, counted="mul", level=2, n=3, options="side 8"
    )
    return row


def test_a_program_is_drawn_once_for_all_that_executed_it():
    rows = [counted("d" * 64, "seal"), counted("d" * 64, "seal-hexl"), counted("e" * 64, "tenseal")]
    assert [row["panel"] for row in shown(programs.draw_counts(rows))] == [
        "mul, infer\nside 8\nbfv · dddddd\nseal, seal-hexl",
        "mul, infer\nside 8\nbfv · eeeeee\ntenseal",
    ]


def test_a_chart_of_too_many_programs_says_how_many_it_shows():
    chart = programs.draw_counts([counted(f"{number:06}" + "0" * 58, "seal") for number in range(9)])
    assert "title" not in chart.to_dict()
    chart = programs.draw_counts([counted(f"{number:06}" + "0" * 58, "seal") for number in range(30)])
    assert chart.to_dict()["title"] == ["In the table only: 18 other programs"]
    assert len(shown(chart)) == 12


def test_a_depth_at_the_cap_is_at_min_that():
    rows = of_variants("seal", depth=4, is_at_max_repetitions=False) + of_variants(
        "pyfhel", depth=1024, is_at_max_repetitions=True
    )
    assert {row["variant"]: row["text"] for row in shown(noise.draw_depth(rows))} == {
        "seal": "4",
        "pyfhel": "≥ 1,024",
    }


@pytest.mark.parametrize(
    ("axis", "values", "kind", "expected"),
    [
        (charting.seconds, (0.002, 0.03), "log", [0.002, 0.005, 0.01, 0.02]),
        (charting.seconds, (0.002, 3.0), "log", [0.01, 0.1, 1.0]),
        (charting.seconds, (1e-6, 100.0), "log", [1e-6, 1e-4, 1e-2, 1.0, 100.0]),
        (charting.seconds, (0.2, 0.9), None, [0.0, 0.2, 0.4, 0.6, 0.8]),
        (charting.seconds, (0.1567106995, 0.157), None, [0.0, 0.05, 0.1, 0.15]),
        (charting.sizes, (100, 5_000_000), "log", [100, 1e3, 1e4, 1e5, 1e6]),
        (charting.sizes, (55e6, 121e6), None, [0, 50e6, 100e6]),
        (charting.linear, (4, 1_024), None, [0, 500, 1000]),
        (charting.linear, (1, 2), None, [0, 1, 2]),
        (charting.counts, (4, 5), None, [0, 1, 2, 3, 4, 5]),
        (charting.counts, (0, 23, 16_384), "symlog", [0, 1, 10, 100, 1_000, 10_000]),
    ],
)
def test_times_and_bytes_are_logarithmic_once_they_span_a_factor_of_10(axis, values, kind, expected):
    options = axis(values)
    assert options["scale"].to_dict().get("type") == kind
    assert options["axis"].to_dict()["values"] == pytest.approx(expected)


def test_no_mark_of_a_linear_axis_stands_upon_the_frame():
    assert charting.linear((4, 5))["scale"].to_dict()["domain"][1] > 5


def test_an_axis_of_nothing_is_one():
    assert charting.seconds(()) == charting.seconds((1.0,))


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(3e-4, "200 µs"), (2e-3, "1 ms"), (0.02, "10 ms"), (3.0, "2 s"), (0.1567106995, "100 ms")],
)
def test_axes_state_their_units(seconds, told):
    rows = of_variants(*PAIR, **TIME | {"median": seconds, "ci_low": seconds * 0.5, "ci_high": seconds * 2})
    text = rendering.svg(times.draw_latency(rows).to_dict())
    assert f">{charting.thin(told)}<" in text
    assert not re.search(r">\d+\.\d{3,}\sm?s<", text)


DECLARED = sorted(name for name, item in registry.shipped().items() if not item.is_reference)


def test_every_variant_declares_a_look():
    assert [name for name in DECLARED if registry.shipped()[name].look is None] == []


def test_no_two_variants_look_alike():
    names = [*DECLARED, "mine", "yours", "theirs"]
    looks = [charting.look(name, names) for name in names]
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
    for name in DECLARED:
        colour = charting.look(name, [name])[0]
        assert contrast(colour, theme.LIGHT.ground) >= 3, name
        assert contrast(theme.in_the_dark(colour), theme.DARK.ground) >= 4.5, name


def test_a_colour_without_one_of_its_own_in_the_dark_is_lighter_there():
    assert contrast(theme.in_the_dark("#204080"), theme.DARK.ground) >= 4.5
    assert theme.in_the_dark("#000000") == "#737373"


def sizes(part) -> list[float]:
    """Every size of texts in a configuration or a chart."""
    if isinstance(part, dict):
        own = [value for name, value in part.items() if name.lower().endswith("fontsize")]
        return own + [size for value in part.values() for size in sizes(value)]
    return [size for each in part for size in sizes(each)] if isinstance(part, list) else []


@pytest.mark.parametrize("name", CHARTS)
def test_the_look_of_all_charts_is_one(name):
    """No chart has a configuration of its own, a small text, or a colour without one for the dark."""
    chart, _ = drawn(name)
    assert chart["config"] == theme.configuration(theme.LIGHT)
    assert chart["usermeta"]["dark"]["config"] == theme.configuration(theme.DARK)
    assert min(sizes(chart)) >= 12
    inks = {
        text for text in strings({**chart, "config": {}, "data": {}, "usermeta": {}}) if text.startswith("#")
    }
    assert inks - {"#000000", "#ffffff"} <= set(chart["usermeta"]["dark"]["colours"])


def marks_of(chart) -> list[str]:
    """The kinds of marks in a chart in layers."""
    layers = chart.get("spec", chart)["layer"]
    return [layer["mark"]["type"] for layer in layers]


RATIOS = ("leaderboard", "speedup", "two runs", "by data")


@pytest.mark.parametrize("name", RATIOS)
def test_ratios_are_dots_on_a_logarithmic_axis_with_a_line_at_1_and_the_band(name):
    chart, text = drawn(name)
    layers = chart.get("spec", chart)["layer"]
    # marks above intervals
    assert marks_of(chart)[:8] == ["rect", "rule", "rule", "tick", "tick", "point", "point", "text"]
    band, one, interval, end, _, points, *_ = layers
    assert [band["encoding"][name]["datum"] for name in ("x", "x2")] == [1 / 1.05, 1.05]
    assert one["encoding"]["x"]["datum"] == 1
    assert (interval["mark"]["strokeWidth"], end["mark"]["size"]) == (2, 9)
    x = points["encoding"]["x"]
    assert x["scale"]["type"] == "log"
    assert 1.0 in x["axis"]["values"]
    assert ">1×<" in text
    assert "scale" not in interval["encoding"]["x"]  # one axis


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([2.6, 7.4], [1, 1.5, 2, 3, 5]),
        ([14], [1, 1.5, 2, 3, 5, 10]),
        ([0.4, 1.3], [0.5, 0.67, 1]),
        ([1.01], [1]),
        ([0.9, 1.12], [0.9, 1, 1.1]),
        ([40], [1, 2, 5, 10, 20]),
        ([123], [1, 2, 5, 10, 20, 50, 100]),
        ([30_000], [1, 10, 100, 1_000, 10_000]),
    ],
)
def test_an_axis_of_ratios_has_round_ticks(values, expected):
    assert charting.ratio_x("ratio", "", values).to_dict()["axis"]["values"] == expected


def of_cases(count, bounds, monkeypatch):
    """The marks of a variant with an interval over a number of cases."""
    monkeypatch.setattr(ranks, "_judged", lambda variants: [(1, bounds)] * len(variants))
    case = {"ratio": 1.3, "ci_low": 1.2, "ci_high": 1.4, "is_hollow": False, "comparison_group": "c"}
    known = {"is_composite": False, "tuning": "matched", "label": "seal", "hexl": False, "variant": "seal"}
    counts = dict.fromkeys(("fastest_in", "wins", "ties", "compared_cases", "ok", "unsupported", "failed"), 0)
    row = {**case, **known, **counts, "common_cases": count}
    answer = ranks.ranked(Answer(tuple(row), [tuple(row.values())] * count), {})
    return answer.mappings[0], shown(times.draw_leaderboard(answer.mappings))


def test_no_interval_of_a_ratio_to_the_fastest_passes_below_1(monkeypatch):
    """Neither in the table nor in the chart."""
    told, (row,) = of_cases(6, (0.491, 123.0), monkeypatch)
    assert (told["ci_low"], told["ci_high"]) == (1.0, 123.0)
    assert (row["from"], row["to"], row["interval"]) == (1.0, 123.0, "[1.00, 123]")


def test_fewer_than_six_cases_are_small_marks_and_their_mean_has_no_interval(monkeypatch):
    told, (mean, *cases) = of_cases(5, (1.2, 1.9), monkeypatch)
    assert (told["ci_low"], told["ci_high"]) == (None, None)
    assert mean["from"] == mean["to"] == pytest.approx(1.3)
    assert [(row["case_ratio"], row["mean_ratio"]) for row in cases] == [(1.3, None)] * 5


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1.02, 1.2, "≈ 1.10×"),
        (0.8, 1.3, "≈ 1.10×"),
        (1.06, 1.2, "1.10×"),
        (0.7, 0.9, "1.10×"),
        (None, None, "1.10×"),
    ],
)
def test_an_interval_that_meets_the_band_is_written_so(low, high, expected):
    (row,) = charting.with_ratio([{"ratio": 1.1, "ci_low": low, "ci_high": high}])
    assert row["text"] == expected


@pytest.mark.parametrize("name", RATIOS)
def test_marks_are_hollow_where_parameters_differ_or_cases_were_not_interleaved(name):
    draw, rows = CHARTS[name]
    chart = draw([{**rows[0], "is_hollow": True}]).to_dict()
    layers = chart.get("spec", chart)["layer"]
    filled, hollow = (
        layer for layer in layers if layer["mark"]["type"] == "point" and layer["mark"]["size"] > 20
    )
    assert (filled["mark"]["filled"], filled["transform"]) == (True, [{"filter": "!datum.is_hollow"}])
    assert (hollow["mark"]["filled"], hollow["transform"]) == (False, [{"filter": "datum.is_hollow"}])
    assert {row.get("is_hollow", False) for row in shown_by(chart)} >= {True}


def shown_by(chart):
    """The rows inside a specification."""
    return chart["data"]["values"]


def test_what_did_not_change_between_runs_is_a_count():
    draw, (row, _) = CHARTS["two runs"]
    rows = [
        {**row, "verdict": verdict, "operation": verdict} for verdict in ("unchanged", "faster", "slower")
    ]
    chart = draw(rows).to_dict()
    assert [mark["text"] for mark in chart["data"]["values"]] == ["2.00× slower", "2.00× faster"]
    assert chart["title"] == "Not shown: 1 other times"


@pytest.mark.parametrize("ground", [theme.LIGHT, theme.DARK])
def test_texts_of_charts_can_be_read(ground):
    for ink in (ground.text, ground.muted):
        assert contrast(ink, ground.ground) >= 4.5


def tooltips(part) -> list[dict[str, str]]:
    """The lines of all tooltips of a chart."""
    if isinstance(part, dict):
        own = part.get("tooltip", [])
        return [line for line in own if isinstance(line, dict)] + [
            line for value in part.values() for line in tooltips(value)
        ]
    return [line for each in part for line in tooltips(each)] if isinstance(part, list) else []


@pytest.mark.parametrize(
    ("name", "title", "expected"),
    [
        ("latency", "Median", "2.00 ms"),
        ("sizes", "Size", "1.00 MB"),
        ("repetitions", "Median", "2.00 ms"),
        ("learning", "Time", "100 ms"),
        ("layers", "Time", "20.0 ms"),
        ("samples", "Corrected", "1.00 ms"),
    ],
)
def test_tooltips_write_units_as_tables_do(name, title, expected):
    chart, _ = drawn(name)
    (field,) = {line["field"] for line in tooltips(chart) if line.get("title") == title}
    assert chart["data"]["values"][0][field] == charting.thin(expected)
    assert not [line for line in tooltips(chart) if line.get("format", "").endswith("s")]


def test_a_line_has_its_name_at_its_end_and_breaks_where_a_place_is_missing():
    rows = [row for n in (2048, 4096, 8192) for row in at(n, *PAIR)]
    rows = [row for row in rows if (row["variant"], row["ring_dimension"]) != ("tenseal", 4096)]
    chart = by_n(rows)
    assert [(row["variant"], row["ring_dimension"]) for row in shown(chart) if row["end"]] == [
        ("seal", 8192),
        ("tenseal", 8192),
    ]
    segments = {name: {row["segment"] for row in shown(chart) if row["variant"] == name} for name in PAIR}
    assert {name: len(own) for name, own in segments.items()} == {"seal": 1, "tenseal": 2}
    text = rendering.svg(theme.dressed(chart.to_dict()))
    assert [text.count(f">{name}<") for name in PAIR] == [1, 1]  # and in no legend


def test_names_of_equal_lines_stand_below_each_other():
    chart = by_n([row for n in (4096, 8192) for row in at(n, *PAIR)])
    moves = [row["dy"] for row in shown(chart) if row["end"]]
    assert sorted(moves) == [-7.0, 7.0]
    text = rendering.svg(theme.dressed(chart.to_dict()))
    places = [float(y) for y in re.findall(r"translate\([\d.]+,([\d.-]+)\)[^>]*>(?:seal|tenseal)<", text)]
    assert abs(places[0] - places[1]) == pytest.approx(14, abs=0.1)


def test_lines_without_room_for_names_have_a_legend():
    names = [f"variant-{number:02}" for number in range(15)]
    chart = by_n([row for n in (4096, 8192) for row in at(n, *names)]).to_dict()
    assert theme.legend(chart) == names
    assert theme.legend(by_n([row for n in (4096, 8192) for row in at(n, *PAIR)]).to_dict()) == []


def test_marks_with_a_tooltip_lead_to_their_cases():
    chart = by_n([{**row, "href": "/case?x"} for n in (4096, 8192) for row in at(n, *PAIR)])
    linked = theme.linked(chart.to_dict())
    layers = linked["spec"]["layer"]
    assert [layer["mark"]["type"] for layer in layers if "href" in layer["encoding"]] == ["point"]
    without = by_n([row for n in (4096, 8192) for row in at(n, *PAIR)]).to_dict()
    assert theme.linked(without) == without


def test_parts_are_shares_in_greys_and_one_accent():
    draw, (row, _) = CHARTS["layers"]
    parts = [("dense", 0.06), ("square", 0.01), ("pool", 0.02), ("scale", 0.01)]
    layers = [
        {**row, "layer": name, "layer_time": time, "position": place}
        for place, (name, time) in enumerate(parts)
    ]
    chart = draw(layers)
    assert [(mark["part"], mark["ink"], mark["label"]) for mark in shown(chart)] == [
        ("dense", theme.ACCENT, "dense 60%"),
        ("square", theme.GREYS[1], "10%"),
        ("pool", theme.GREYS[0], "pool 20%"),
        ("scale", theme.GREYS[1], "10%"),
    ]
    assert shown(chart)[-1]["whole"] == charting.thin("100 ms")
    assert (shown(chart)[0]["start"], shown(chart)[-1]["end"]) == (0, pytest.approx(1))


@pytest.mark.parametrize("ground", [theme.LIGHT, theme.DARK])
def test_texts_on_parts_and_counts_can_be_read(ground):
    is_dark = ground is theme.DARK
    inks = [theme.in_the_dark(ink) if is_dark else ink for ink in (theme.ACCENT, *theme.GREYS)]
    texts = [theme.in_the_dark(ink) if is_dark else ink for ink in (theme.ON_ACCENT, theme.ON_GREY)]
    assert contrast(texts[0], inks[0]) >= 4.5
    assert all(contrast(texts[1], grey) >= 4.5 for grey in inks[1:])
    parts = [
        [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
        for colour in (ground.ground, ground.muted)
    ]
    darkest = [round(low + (high - low) * programs._DARKEST) for low, high in zip(*parts, strict=True)]
    assert contrast(ground.text, "#" + "".join(f"{part:02x}" for part in darkest)) >= 4.5


def test_a_label_stands_next_to_its_mark_or_is_left_out():
    axis = charting.seconds((0.001, 1.0))
    x, y = plots.Measure("x", "", axis), plots.Measure("y", "", axis)
    rows = [{"panel": "a", "x": 0.03, "y": 0.03, "name": "protocol"} for _ in range(12)]
    labels = plots.labelled([*rows, {"panel": "a", "x": 0.9, "y": 0.9, "name": "apart"}], x, y, "name")
    assert labels[-1]["label"] == "apart"
    assert labels[-1]["align"] == "right"  # no room on the other side
    assert {row["label"] for row in labels[:-1]} == {"", "protocol"}


def filled(draw, rows):
    """A figure with rows."""
    figure = Figure(name="x", title="", lead="", view="", columns=(), chart=draw)
    return Filled(
        figure, Selection((("run", "r"),)), Answer(tuple(rows[0]), [tuple(row.values()) for row in rows])
    )


def test_a_page_has_one_legend_in_the_order_of_the_ranking():
    """Figures list the fastest variant of a case first; charts with names need no legend."""
    ranked = [
        row for key in ("a", "b") for row in at(8192, "tenseal", "pyfhel", "seal", comparison_group=key)
    ]
    named = [row for n in (4096, 8192) for row in at(n, "openfhe", *PAIR)]
    figures = [filled(by_n, ranked), filled(by_n, named)]
    assert list(rendering.libraries(figures)) == ["tenseal", "pyfhel", "seal"]
    assert rendering.libraries(figures)["seal"] == charting.look("seal", ["seal"])
    assert rendering.libraries(figures[1:]) == {}


def test_very_many_rows_have_their_marks_on_lines():
    rows = [
        row
        for number in range(24)
        for row in at(8192, *PAIR, label=f"op{number:02}", peak_bytes=1e6 + number)
    ]
    dense = memory.draw_memory(rows).to_dict()
    sparse = memory.draw_memory(rows[:20]).to_dict()
    assert ["yOffset" in chart["layer"][0]["encoding"] for chart in (dense, sparse)] == [False, True]
    assert dense["height"] < 24 * 30
