"""Figures that are computed from several results: what they show of them, and what they leave out."""

from __future__ import annotations

import math
from typing import Any

import pytest
from pictures import (
    PAIR,
    answer,
    cost,
    distributed,
    grown,
    passing,
    profiled,
    row,
    sampled,
    series,
    sped,
    spent,
    state,
    threaded,
)

from ciphermark_analysis.time_tree import REST
from ciphermark_core.errors import UserError
from ciphermark_core.metrics import MIN_PRECISION_BITS
from ciphermark_dashboards import rendering
from ciphermark_dashboards.filters import Selection
from ciphermark_dashboards.rendering import Filled
from ciphermark_present import links, listing, noise_lines, theme
from ciphermark_present.catalogue import (
    costs,
    distribution,
    hexl,
    noise,
    profile,
    scaling,
    security_map,
    thread_counts,
    whole_cost,
)
from ciphermark_present.printed import Wanted


def shown(chart: Any) -> list[dict[str, Any]]:
    """The rows inside a chart."""
    rows: list[dict[str, Any]] = chart.to_dict(validate=False)["data"]["values"]
    return rows


def drawn(chart: Any) -> str:
    return rendering.svg(theme.dressed(chart.to_dict(validate=False)))


# Growth with N


def test_a_series_has_the_exponent_of_its_times() -> None:
    (found,) = series(*grown("seal", 1.25))
    assert (found["points"], found["rings"]) == (5, [2048, 4096, 8192, 16384, 32768])
    for name in ("exponent", "exponent_low", "exponent_high"):
        assert found[name] == pytest.approx(1.25, abs=1e-6)
    assert found["n_log_n_exponent"] == pytest.approx(1.11, abs=0.01)
    assert scaling.finding([found]) == "Times grow as N^1.25 (mul); N log N would be N^1.11"
    several = series(*grown("seal", 1.25), *grown("seal", 2.0, label="add"))
    assert scaling.finding(several).startswith("Times grow as N^1.25 (mul) to N^2.00 (add); ")
    assert scaling.finding([found, {**found, "exponent": 1.5}]).startswith(
        "Times grow as N^1.25 to N^1.50 (mul); "
    )


def test_two_n_and_disturbed_times_have_no_exponent() -> None:
    assert series(*grown("seal", 1.0)[:2]) == []
    times = grown("seal", 1.0)
    lost = {"disturbed_times": ["median"]}
    assert series(*times[:2], *({**each, **lost} for each in times[2:])) == []


def test_a_series_takes_the_fullest_vector_and_the_longest_chain() -> None:
    times = grown("seal", 1.0)
    short = {**times[0], "vector_length": 16, "median": 9.0}
    other = {**times[1], "modulus_bits": [40, 40], "median": 9.0, "comparison_group": "x"}
    assert series(*times, short, other) == series(*times)


def test_n_log_n_begins_at_the_shortest_time_of_the_smallest_n() -> None:
    rows = series(*grown("seal", 1.2), *grown("tenseal", 1.0))
    points = shown(scaling.draw_growth(rows))
    by_ring = {point["ring_dimension"]: point["reference_s"] for point in points}
    assert by_ring[2048] == pytest.approx(min(point["median"] for point in points))
    assert by_ring[32768] / by_ring[2048] == pytest.approx(16 * 15 / 11)
    assert [point["ring_dimension"] for point in points if point["reference"]] == [32768]
    text = drawn(scaling.draw_growth(rows))
    assert "N log N" in text
    assert "seal 1.20 ±" in text


# Cost against level


def test_a_cost_is_stated_at_both_ends_of_the_chain() -> None:
    rows = [cost("seal", level, 0.001 * (level + 1)) for level in range(4)]
    slow = [cost("tenseal", level, 0.002 * (level + 1)) for level in (0, 3)]
    assert costs.finding(rows) == "mul takes 4.00 ms at level 3 and 1.00 ms at level 0 (seal)"
    assert costs.finding([*slow, *rows]) == costs.finding(rows), "of one operation, the fastest variant"
    other = [cost("seal", level, 0.5 * (level + 1), label="add") for level in (1, 3)]
    assert costs.finding([*rows, *other]) == "add takes 2.00 s at level 3 and 1.00 s at level 1 (seal)"
    assert costs.finding(rows[:1]) == ""
    chosen = {"scheme": "bfv", "security_compared": 128}
    assert list(costs.tell([*rows, *slow], chosen)) == [
        "BFV at 128 bits (2018): the highest level costs 4.00× as much as the lowest."
    ]


def test_a_cost_line_breaks_where_a_level_is_missing_and_the_slowest_operation_is_first() -> None:
    fast = [cost("seal", level, 0.001, label="add") for level in (0, 1, 3)]
    rows = [*fast, *(cost("tenseal", level, 0.001, label="add") for level in range(4))]
    rows += [cost("seal", level, 0.01) for level in range(4)]
    chart = costs.draw_costs(rows)
    assert chart is not None
    assert chart.to_dict(validate=False)["facet"]["sort"] == ["mul", "add"]
    segments = {
        (point["variant"], point["level"]): point["segment"]
        for point in shown(chart)
        if point["panel"] == "add"
    }
    assert (segments["seal", 1], segments["seal", 3]) == (0, 1)
    assert segments["tenseal", 3] == 0


def test_a_table_of_costs_states_what_its_rows_share() -> None:
    rows = [cost(name, 2, 0.001, log_qp=218.0) for name in ("seal", "tenseal")]
    printed = costs.table(rows)
    assert printed.title == "mul, BFV, N = 8192, level 2 of 3, 1 thread, cached operands"
    assert [head.text for head in printed.heads[:3]] == ["library", "median", "95% interval"]
    assert printed.rows[0] == ("seal", "1.00 ms", "[0.900, 1.10]", "128 bits", "below 128 bits", "218")
    several = costs.table([*rows, cost("seal", 1, 0.0005)])
    assert [head.text for head in several.heads[:2]] == ["level", "library"]
    disturbed = costs.table([rows[0], {**rows[1], "disturbed_times": ["median"]}])
    assert [row[1] for row in disturbed.rows] == ["1.00 ms", "!1.00 ms"]
    assert (printed.legend, disturbed.legend) == ((), ("! disturbed samples only",))


def test_the_nearest_costs_agree_in_threads_first_then_in_n_then_in_level() -> None:
    wanted = {"ring_dimension": 8192, "level": 1, "threads": 1, "scheme": None, "residency": "cached"}
    near, high, ring, threads = (
        cost("seal", 2, 1.0),
        cost("seal", 3, 1.0),
        cost("seal", 1, 1.0, ring_dimension=16384),
        cost("seal", 1, 1.0, threads=2),
    )
    assert costs.nearest([threads, ring, high, near], wanted) == [near, high, ring, threads]
    assert costs.nearest([threads, near], wanted, 1) == [near]


# Does HEXL help?


def paired(ring: int, ratio: float, verdict: str = "faster", **columns: Any) -> dict[str, Any]:
    ends = {"ratio": ratio, "ci_low": 0.9 * ratio, "ci_high": 1.1 * ratio, "verdict": verdict, "cpu": "EPYC"}
    place = {"ring_dimension": ring, "vector_length": ring, "comparison_group": f"N = {ring}"}
    return row("seal", **place | {"variant_on": "seal-hexl", "variant_off": "seal"} | ends | columns)


def test_hexl_has_a_speedup_at_every_n_and_a_verdict() -> None:
    rows = [paired(4096, 2.5), paired(8192, 2.0), paired(4096, 9.0, vector_length=16)]
    rows += [
        paired(ring, 1.0, verdict, operation="add")
        for ring, verdict in ((4096, "faster"), (8192, "no difference"), (16384, "too few samples"))
    ]
    product, addition = hexl.with_rings(answer(rows), {}).mappings
    assert (product["n_4096"], product["n_8192"], product["n_16384"]) == (2.5, 2.0, None)
    assert (product["helps"], product["intervals"]) == ("yes", "N = 4096 [2.25, 2.75]; N = 8192 [1.80, 2.20]")
    assert addition["helps"] == "yes at 4096; no at 8192; undecided at 16384"
    by_name = {column.name: column for column in hexl.HEXL.columns}
    assert [by_name[f"n_{ring}"].cell(addition) for ring in (4096, 8192, 16384)] == [
        "1.00×",
        "1.00× ≈",
        "1.00× ?",
    ]
    assert by_name["n_32768"].cell(addition) == "–"
    assert (
        hexl.finding([product, addition])
        == "On EPYC, HEXL speeds up 1 of 2 operations at every N; 1 undecided"
    )


def test_hexl_keeps_requests_apart() -> None:
    rows = [paired(4096, 2.5), paired(4096, 2.0, tuning="recommended", comparison_group="recommended")]
    assert [each["ratios"] for each in hexl.with_rings(answer(rows), {}).mappings] == [[2.5], [2.0]]
    assert hexl.with_rings(answer(rows[:1]), {}).mappings[0]["helps"] == "yes"


# Noise over consecutive operations


@pytest.mark.parametrize(
    ("bits", "end"),
    [
        ({0: 100, 1: 80, 2: 60, 4: 20, 8: 0}, (5.0, "fails here")),  # 20 bits each: 1 more after 4
        ({0: 100, 1: 80, 2: 0}, (2, "fails here")),  # the line would end beyond the first failure
        ({0: 100, 1: 0}, (1, "fails here")),
        ({0: 100, 1: 99, 2: 98, 4: 96, 8: 92}, (8, "no level left")),
        ({0: 100, 8: 92, 16: 84}, None),
        ({0: 0}, None),
    ],
)
def test_a_line_of_noise_ends_where_no_bits_are_left(
    bits: dict[int, float], end: tuple[float, str] | None
) -> None:
    found = noise_lines.end([state("seal", count, left) for count, left in bits.items()])
    assert (found and (found["repetitions"], found["text"])) == end


def test_precision_ends_at_the_minimum_of_a_correct_result() -> None:
    precision = {"meaning": "precision"}
    states = [state("seal", count, bits, **precision) for count, bits in ((0, 30.0), (1, 20.0), (2, 3.0))]
    found = noise_lines.end(states)
    assert found is not None
    assert (found["repetitions"], found["bits"]) == (2, MIN_PRECISION_BITS)


def test_the_cost_of_an_operation_leaves_out_incorrect_results() -> None:
    """Where no bit is left, further operations cost none."""
    states = [state("seal", count, bits) for count, bits in ((0, 100.0), (1, 70.0), (2, 40.0), (4, 0.0))]
    assert noise.find_noise(states) == "Each mul costs 30 bits of noise budget at N = 8192"
    (told,) = noise.tell_noise(states, {"scheme": "bfv", "security_compared": 128})
    assert "on average 30 (seal)" in told


def test_noise_names_each_n_and_the_furthest_end() -> None:
    states = [
        state(name, count, bits * ring / 8192, ring_dimension=ring, vector_length=ring)
        for name in PAIR
        for ring in (8192, 16384)
        for count, bits in ((0, 100.0), (1, 70.0), (2, 0.0))
    ]
    marks = shown(noise_lines.draw(states))
    assert sorted(mark["label"] for mark in marks if mark["label"]) == ["N = 16384", "N = 8192"]
    assert len([mark for mark in marks if mark["text"]]) == 1
    assert {mark["kind"] for mark in marks} == {"state", "end"}
    assert "fails here" in drawn(noise_lines.draw(states))


# Profile of a pass


def test_a_profile_attributes_times_to_parties_and_steps() -> None:
    found = {each["place"]: each["end_s"] - each["start_s"] for each in profiled(*spent())}
    assert found == {
        "train": 10.0,
        "train › client": 4.0,
        "train › client › encrypt": 3.0,
        "train › client › serialize": 1.0,  # what its own steps leave
        "train › server": 5.5,
        "train › server › evaluate": 5.0,
        "train › server › serialize": 0.5,
        "train › transfer": 0.25,
        f"train › {REST}": 0.25,
        "infer": 2.0,
        "infer › client": 1.0,
        "infer › client › decrypt": 1.0,
        "infer › server": 1.0,
        "infer › server › evaluate": 1.0,
        "infer › server › evaluate › dense": 0.75,
        f"infer › server › evaluate › {REST}": 0.25,
    }


def test_shares_are_of_the_whole_pass_and_computed_times_have_no_interval() -> None:
    rows = {each["place"]: each for each in profiled(*spent())}
    assert rows["train › server › evaluate"]["share"] == pytest.approx(5 / 12)
    assert rows["train › server › evaluate"]["ci_low"] == pytest.approx(4.5)
    for place in ("train › client › serialize", f"train › {REST}"):
        assert (rows[place]["ci_low"], rows[place]["n"]) == (None, None)


def test_a_profile_shows_the_fastest_case_and_says_that_there_are_others() -> None:
    rows = profiled(*spent("tenseal", case=1, factor=2.0), *spent("seal", case=2))
    assert {mark["place"] for mark in shown(profile.draw_profile(rows))} == {
        each["place"] for each in rows if each["variant"] == "seal"
    }
    assert profile.finding(rows) == "42% of a pass of mul is train, server, evaluate (seal)"
    title = " ".join(profile.draw_profile(rows).to_dict(validate=False)["title"])
    assert title.startswith("seal, mul, BFV, N = 8192")
    assert "Filters select another library or workload." in title


def test_a_workload_without_times_of_its_parties_has_no_profile() -> None:
    assert profiled(row(stage="infer", party=None, step=None), row(stage="infer", step="evaluate")) == []


def test_the_texts_of_a_profile_stand_in_boxes_that_have_room_for_them() -> None:
    text = drawn(profile.draw_profile(profiled(*spent())))
    assert ">evaluate 42%<" in text
    assert ">transfer 2%<" not in text


# Links


def test_the_fastest_over_a_link_changes_where_lines_cross() -> None:
    rows = [passing("seal", 1.0, 1e7), passing("tenseal", 3.0, 1e6), passing("pyfhel", 9.0, 1e7)]
    assert whole_cost.finding(rows) == "mul: tenseal is fastest over slow links, seal above 36.0 Mbit/s"
    crossings = [mark for mark in shown(whole_cost.draw_links(rows)) if mark["kind"] == "crossing"]
    assert [(mark["rate"], mark["text"]) for mark in crossings] == [(pytest.approx(36e6), "36.0 Mbit/s")]
    assert crossings[0]["seconds"] == pytest.approx(1.0 + 8e7 / 36e6)


def test_a_variant_that_is_always_fastest_is_named_alone() -> None:
    rows = [passing("seal", 1.0, 1e6), passing("tenseal", 3.0, 1e6)]
    assert whole_cost.finding(rows) == "seal is fastest for mul over every link from 1 Mbit/s to 10 Gbit/s"
    assert "crossing" not in {mark["kind"] for mark in shown(whole_cost.draw_links(rows))}


def test_a_case_alone_is_not_the_fastest_and_the_lines_above_it_fit_a_phone() -> None:
    long = {
        "modulus_bits": [60] * 9,
        "bootstrapping": "level budget 3 + 3, 4096 slots, slots first",
        "scale": 2**52,
    }
    rows = [
        passing("seal", 1.0, 1e6),
        passing("lattigo", 3.0, 1e6, comparison_group="d", security_2018=None, **long),
    ]
    assert whole_cost.finding(rows) == ""
    panels = {mark["panel"] for mark in shown(whole_cost.draw_links(rows))}
    assert len(panels) == 2
    assert all(len(line) <= 48 for panel in panels for line in panel.split("\n"))
    assert not any("–" in panel for panel in panels), "no level is not stated"


def test_every_line_over_links_has_the_interval_of_its_work_and_a_name() -> None:
    marks = shown(whole_cost.draw_links([passing("seal", 1.0, 1e7), passing("tenseal", 3.0, 1e6)]))
    curves = [mark for mark in marks if mark["kind"] == "curve"]
    assert len(curves) == 2 * 25
    assert all(mark["low_s"] < mark["seconds"] < mark["high_s"] for mark in curves)
    assert sorted(mark["text"] for mark in curves if mark["text"]) == ["seal", "tenseal"]
    slow = next(mark for mark in curves if mark["variant"] == "seal" and mark["rate"] == 1e6)
    assert (slow["seconds"], slow["low_s"]) == (pytest.approx(81.0), pytest.approx(80.9))


def test_encrypting_keys_are_lines_of_their_own() -> None:
    rows = [passing("seal", 1.0, 1e7), passing("tenseal", 1.5, 5e6, encryption="secret key")]
    named = {mark["text"] for mark in shown(whole_cost.draw_links(rows)) if mark["kind"] == "curve"} - {""}
    assert named == {"seal, encrypted with the public key", "tenseal, encrypted with the secret key"}


@pytest.mark.parametrize(
    ("bits_per_second", "text"),
    [(1e6, "1.00 Mbit/s"), (36.04e6, "36.0 Mbit/s"), (999.6e6, "1.00 Gbit/s"), (1e10, "10.0 Gbit/s")],
)
def test_rates_have_units(bits_per_second: float, text: str) -> None:
    assert links.rate(bits_per_second) == text
    assert links.bits_per_second(text) == pytest.approx(bits_per_second, rel=2e-3)


@pytest.mark.parametrize("text", ["", "100", "100 MB/s", "0 Mbit/s", "-1 Mbit/s", "nan Gbit/s", "1e9 kbit/s"])
def test_no_bandwidth_without_a_number_and_a_unit(text: str) -> None:
    with pytest.raises(UserError, match="write a number with its unit, such as 100 Mbit/s"):
        links.bits_per_second(text)


def test_the_whole_cost_has_the_time_over_the_link_and_of_an_input() -> None:
    rows = [passing("seal", 1.0, 1e7, inputs=8), passing("tenseal", 3.0, 1e6)]
    slow, fast = (whole_cost.of_link(rows, text) for text in ("10 Mbit/s", "1 Gbit/s"))
    assert [(row["variant"], row["total_s"], row["input_s"]) for row in slow] == [
        ("tenseal", pytest.approx(3.8), pytest.approx(3.8)),
        ("seal", pytest.approx(9.0), pytest.approx(1.125)),
    ]
    assert [row["variant"] for row in fast] == ["seal", "tenseal"]


def test_a_disturbed_pass_is_last_in_the_whole_cost_and_in_no_sentence() -> None:
    rows = [passing("seal", 1.0, 1e6, disturbed_times=["work_s"]), passing("tenseal", 3.0, 1e6)]
    timed = [{**row, "security_shown": 128} for row in whole_cost.of_link(rows, links.USUAL)]
    assert [row["variant"] for row in timed] == ["tenseal", "seal"]
    assert list(whole_cost.tell_costs(timed, {})) == [
        "mul in BFV, at 128 bits (2018): fastest whole pass at 100 Mbit/s 3.08 s (tenseal). Upload 500 kB, download "
        "500 kB, keys 10.0 MB, client memory 200 MB; largest error 0."
    ]


def test_the_whole_cost_is_printed_over_the_wanted_link() -> None:
    rows = [passing("seal", 1.0, 1e7), passing("tenseal", 3.0, 1e6)]
    (table,) = listing.tables(
        whole_cost.WHOLE_COST, whole_cost.LAYOUT, [rows], Wanted(bandwidth="10.0 Mbit/s")
    )
    heads = [head.text for head in table.heads]
    assert "per input" not in heads  # of one input per pass
    assert "server memory" not in heads  # nowhere measured
    assert table.about == "One pass over a link of 10.0 Mbit/s"
    column = heads.index("end to end")
    assert [row[column] for row in table.rows] == ["3.8 s", "9 s"]


# Security


def used(ring: int, log_qp: float, old: int, new: int, variant: str = "seal") -> dict[str, Any]:
    columns = {"ring_dimension": ring, "log_qp": log_qp, "security_2018": old, "security_2024": new}
    return row(variant, **columns, cases=1)


def test_parameter_sets_below_128_bits_are_counted_and_noted_once_per_place() -> None:
    rows = [
        used(8192, 218.0, 128, 0),
        used(8192, 218.0, 128, 0, "tenseal"),
        used(8192, 300.0, 0, 0),
        used(16384, 430.0, 128, 128),
    ]
    assert security_map.finding(rows) == (
        "Below 128 bits: 1 by the 2018 table and 3 by the 2024 table, of 4 parameter sets (seal, tenseal)"
    )
    assert sorted(mark["note"] for mark in shown(security_map.draw_map(rows)) if mark["note"]) == [
        "below 128 bits (2018 and 2024)",
        "below 128 bits (2024)",
    ]


def test_levels_below_128_bits_are_amber_in_tables() -> None:
    rows = [used(8192, 218.0, 128, 0), used(16384, 430.0, 128, 128)]
    table = Filled(security_map.SECURITY_MAP, Selection((("run", "r"),)), answer(rows)).table()
    assert [cell.text for cells in table.rows for cell in cells if "warning" in cell.kind] == [
        "below 128 bits"
    ]


def test_secure_and_unrated_parameter_sets_have_no_note() -> None:
    rows = [
        used(16384, 430.0, 128, 128),
        {**used(8192, 900.0, 0, 0), "security_2018": None, "security_2024": None},
    ]
    assert security_map.finding(rows) == "All 2 parameter sets reach 128 bits by both tables"


def test_limits_are_steps_of_both_tables() -> None:
    rows = [used(ring, 50.0, 128, 128) for ring in (4096, 8192, 16384)]
    layers = security_map.draw_map(rows).to_dict(validate=False)["layer"]
    steps = {
        (each["ring_dimension"], each["table"]): each["bits"]
        for layer in layers
        for each in layer.get("data", {}).get("values", [])
        if each.get("level") == 128
    }
    assert (steps[4096, "2018"], steps[8192, "2024"]) == (109, 214)
    assert {layer["mark"].get("interpolate") for layer in layers} == {"step-after", None}
    assert "128 bits (2024)" in drawn(security_map.draw_map(rows))


# Threads


def test_a_speedup_is_over_the_smallest_number_of_threads() -> None:
    rows = sped(*threaded("seal", t1=4.0, t2=2.5, t4=1.25))
    assert [(each["threads"], each["speedup"]) for each in rows] == [(1, 1.0), (2, 1.6), (4, 3.2)]
    assert (rows[0]["speedup_low"], rows[0]["speedup_high"]) == (None, None)
    low, high = rows[1]["speedup_low"], rows[1]["speedup_high"]
    assert 1.6 / 1.3 < low < 1.6 < high < 1.6 * 1.3
    assert thread_counts.finding(rows) == "4 threads make mul up to 3.20× as fast (seal)"


def test_a_case_with_one_number_of_threads_has_no_speedup() -> None:
    assert sped(*threaded("seal", t1=4.0), *threaded("tenseal", t2=4.0)) == []
    assert sped(*threaded("seal", t1=4.0), row(median=2.0, threads=2, disturbed_times=["median"])) == []


def test_a_line_of_speedups_ends_with_the_last() -> None:
    marks = shown(thread_counts.draw_speedups(sped(*threaded("seal", t1=4.0, t2=2.5, t4=1.25))))
    assert [(mark["threads"], mark["end"]) for mark in marks if mark["end"]] == [(4, "seal 3.20×")]


def test_speedups_at_one_number_of_threads_are_rows_without_those_of_one_thread() -> None:
    rows = sped(*threaded("seal", t1=4.0, t2=2.5))
    marks = shown(thread_counts.draw_speedups(rows))
    assert [(mark["panel"], mark["speedup"]) for mark in marks] == [("mul", 1.6)]
    workloads = sped(
        *(
            {**each, "options": f"side {side}", "stage": stage, "request_but_threads": f"{side} {stage}"}
            for side in (2, 4)
            for stage in ("train", "infer")
            for each in threaded("seal", t1=4.0, t2=2.5)
        )
    )
    panels = [mark["panel"] for mark in shown(thread_counts.draw_speedups(workloads))]
    assert panels == ["mul, side 2, train", "mul, side 2, infer", "mul, side 4, train", "mul, side 4, infer"]


def test_the_ideal_is_a_straight_line() -> None:
    chart = thread_counts.draw_speedups(sped(*threaded("seal", t1=4.0, t2=2.5, t4=1.25))).to_dict(
        validate=False
    )
    (ideal,) = {
        tuple((each["threads"], each["speedup"]) for each in layer["data"]["values"])
        for layer in chart["spec"]["layer"]
        if "data" in layer
    }
    assert ideal == ((1, 1), (4, 4))


# Distribution of samples


def test_a_distribution_has_undisturbed_samples_and_all() -> None:
    (found,) = distributed(*sampled("seal", [1.0, 1.2, 1.1, 9.0]))
    assert (found["samples"], found["undisturbed"]) == (4, 3)
    assert (found["median_s"], found["high_s"]) == (1.1, 1.2)
    assert (found["all_median_s"], found["all_high_s"]) == (1.1, 9.0)
    assert distribution.finding([found]) == (
        "seal, evaluate: 95% of the undisturbed samples take at most 1.20 s; of all samples, 9.00 s"
    )
    (quiet,) = distributed(*sampled("seal", [1.0, 1.2, 1.1, 1.21]))
    assert distribution.finding([quiet]) == "Undisturbed samples and all samples take equally long"


def test_undisturbed_samples_are_corrected_and_warm_ups_left_out() -> None:
    rows = sampled("seal", [2.0, 4.0, 9.0], slowdown=2.0)
    (found,) = distributed(*rows, {**rows[0], "is_warmup": True, "value": 99.0})
    assert found["times_s"] == [1.0, 2.0]
    assert found["all_times_s"] == [2.0, 4.0, 9.0]


def test_a_distribution_rises_from_nothing_to_all() -> None:
    marks = shown(distribution.draw_distribution(distributed(*sampled("seal", [1.0, 1.2, 1.1, 9.0]))))
    shares = [mark["share"] for mark in marks if mark["kind"] == "all, as measured"]
    assert shares == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert {mark["time_s"] for mark in marks if mark["kind"] != "all, as measured"} == {1.0, 1.1, 1.2}


def test_a_factor_of_ten_makes_times_logarithmic() -> None:
    """A logarithmic scale says nothing of zero, of which the browser would warn."""
    near, far = {"zero": False, "nice": False}, {"type": "log", "nice": False}
    for values, scale in (([1.0, 2.0, 3.0], near), ([1.0, 2.0, 30.0], far)):
        chart = distribution.draw_distribution(distributed(*sampled("seal", values))).to_dict(validate=False)
        assert chart["spec"]["encoding"]["x"]["scale"] == scale


def test_a_long_distribution_keeps_its_ends() -> None:
    values = [1.0 + number / 1e4 for number in range(5_000)]
    marks = shown(distribution.draw_distribution(distributed(*sampled("seal", values))))
    every = [mark["time_s"] for mark in marks if mark["kind"] == "all, as measured"]
    assert len(every) < 500
    assert (min(every), max(every)) == (1.0, values[-1])
    assert math.isclose(max(mark["share"] for mark in marks), 1.0)
