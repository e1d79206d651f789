"""Advice for a workload: its candidates, the suites of its points, words, and predictions against measurements."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from predictions import REMARK, answer, available, predicted

from ciphermark import computation, integers, matvec, reals
from ciphermark_adapters import registry
from ciphermark_benchmark import advising
from ciphermark_benchmark.advising import Link, Predictor, UncoveredError, Wish, requests, wished
from ciphermark_benchmark.limits import WishText, in_file, read
from ciphermark_benchmark.suite import files, plan
from ciphermark_core import host
from ciphermark_core.budget import Budget
from ciphermark_core.errors import Unsupported, UserError
from ciphermark_core.model import Accuracy, Case, Outcome, Sample, Trial
from ciphermark_core.security import level
from ciphermark_model.advice import Limits
from ciphermark_model.table import CostTable
from ciphermark_present import terminal
from ciphermark_present.catalogue import advice
from ciphermark_workloads.catalogue import WORKLOADS

SIGN = WORKLOADS["sign"]
WISH = Wish(SIGN, "sign", threads=(1, 2))


def test_candidates_vary_rings_scales_digits_variants_and_threads():
    several, _ = answer(WISH, "seal", "seal-hexl")
    assert {each.variant for each in several} == {"seal", "seal-hexl"}
    assert {each.threads for each in several} == {1, 2}
    assert len({each.ring_dimension for each in several}) > 1
    assert len({each.request.scale_bits for each in several}) > 1
    assert len(several) == len({repr((each.variant, each.threads, each.request)) for each in several})


def test_candidates_vary_layouts_and_a_larger_ring_only_where_it_takes_fewer_ciphertexts():
    matrix = np.ones((16, 16))
    short = computation(x=reals(16))(lambda x: matvec(matrix, x))
    long = computation(x=reals(9000))(lambda x: x * x)
    for workload, count in ((short, 1), (long, 2)):
        several = [*requests(workload, "ckks", registry.declaration("seal"), Limits())]
        scale = workload.parameters("ckks").scale_bits
        rings = {each.spec.ring_dimension for each in several if each.spec.scale_bits == scale + 5}
        assert len(rings) == count
        if workload is short:
            assert {2, 8, 16} <= {each.options.get("baby_steps") for each in several}
    several = requests(WORKLOADS["matrix-product"], "ckks", registry.declaration("seal"), Limits())
    assert {each.options["blocks"] for each in several} == {2, 4, 8}


def test_a_ring_without_a_plaintext_modulus_of_the_size_is_no_candidate():
    """t has 16 bits at N = 4096; at N = 8192 none of 16 bits is 1 modulo 2N."""
    whole = computation(a=integers(24, -5, 5))(lambda a: 150 * a.sum())
    several = [*requests(whole, "bgv", registry.declaration("seal"), Limits())]
    assert several


@pytest.mark.parametrize("table", ["2018", "2024"])
def test_requests_begin_with_the_recommended_set_and_keep_the_security(table):
    declared = registry.declaration("seal")
    several = [item.spec for item in requests(SIGN, "ckks", declared, Limits(security_table=table))]
    own = SIGN.parameters("ckks")
    assert (several[0].modulus_bits, several[0].ring_dimension) == (own.modulus_bits, own.ring_dimension)
    for spec in several[1:]:
        assert level(table, spec.ring_dimension, sum(spec.modulus_bits)) >= 128 or (
            spec.ring_dimension == own.ring_dimension
        )


def test_every_candidate_without_a_prediction_has_the_reason():
    several, given = answer(replace(WISH, limits=Limits(latency=1e9)), "seal", "openfhe", "tenseal")
    reasons = {each.variant: each.reason for each in several if each.costs is None}
    assert "openfhe" in reasons
    assert all(reasons.values())
    assert len(given["points"]) + len(given["left_out"]) == len(given["candidates"]) == len(several)


def test_the_answer_is_json_and_its_words_state_conditions_and_reasons():
    wish = replace(WISH, limits=Limits(latency=2.0, libraries=("seal", "seal-hexl")), link=Link(1e8, 0.02))
    _, given = answer(wish, "seal", "seal-hexl", "tenseal")
    assert json.loads(json.dumps(given, allow_nan=False)) == given
    (points, left_out) = advice.tables(given, is_whole=True)
    assert points.title.startswith("Take seal-hexl, CKKS, N = ")
    assert "100 Mbit/s" in points.about
    assert REMARK in points.about
    whys = [row[-1] for row in points.rows]
    assert all(whys)
    assert "Fastest" in whys[0]
    assert sum(map(len, (points.rows, left_out.rows))) <= len(given["candidates"])
    assert {"tenseal", "seal"} <= {row[0] for row in left_out.rows}
    assert any("library tenseal, limit seal, seal-hexl" in row[2] for row in left_out.rows)
    for table in (points, left_out):
        assert all(len(line) <= 100 for line in terminal.lines(table, 100))


def test_limits_that_nothing_meets_name_the_nearest_misses():
    _, given = answer(replace(WISH, limits=Limits(latency=1e-6)), "seal")
    (nearest, left_out) = advice.tables(given)
    assert nearest.title == "No candidate meets all limits for sign. Nearest misses"
    assert len(nearest.rows) == 5
    assert all(row[2].startswith("time ") and "×)" in row[2] for row in nearest.rows)
    assert left_out.title.startswith("Left out: ")


def test_the_chart_has_the_candidates_within_the_limits():
    _, given = answer(WISH, "seal", "seal-hexl")
    rows = advice.chart_rows(given)
    assert {row["is_hollow"] for row in rows} == {True, False}
    chart = advice.draw(rows).to_dict()
    assert len(chart["data"]["values"]) == 2 * len(rows)
    assert advice.draw(rows[:1]) is None


@pytest.mark.parametrize("name", ["sign", "lr-k3-plain", "matrix-product", "chi-square"])
def test_the_suite_of_a_candidate_has_exactly_its_parameters(name):
    workload = WORKLOADS[name]
    several, _ = answer(Wish(workload, name, threads=(1, 2)), "seal", "seal-hexl")
    chosen = [each for each in several if each.costs is not None][:: max(1, len(several) // 6)]
    text = advising.suite("mine", Wish(workload, name), chosen)
    suite = files.parse(text, "mine.yaml")
    planned = [
        next(iter(plan._workload_cases(experiment, available(*experiment.variants))))
        for experiment in suite.experiments
    ]
    assert [(item.case.variant, item.case.threads, item.case.parameters) for item in planned] == [
        (each.variant, each.threads, each.request) for each in chosen
    ]
    assert all(item.reason is None for item in planned)


def outcome(candidate, status="ok", *samples: Sample) -> Outcome:
    case = Case(
        candidate.variant,
        "micro",
        "sign",
        candidate.request,
        1,
        "random",
        candidate.threads,
        dict(candidate.options),
    )
    trial = Trial("t", "r", case, 0, 1, Budget())
    accuracy = Accuracy(3e-5, 0, 1e-3, 14.0)
    return Outcome(trial, status, "2026-01-01T00:00:00+00:00", 1.0, samples, accuracy)


def test_predictions_are_shown_against_the_medians_of_the_candidates_own_trials():
    several, _ = answer(WISH, "seal", "seal-hexl")
    first, second = several[0], several[-1]
    samples = [
        *(Sample("time", value, "compute", step="evaluate") for value in (2.0, 3.0, 4.0)),
        Sample("time", 100.0, "compute", step="evaluate", is_warmup=True),
        *(
            Sample("time", 0.5, "compute", step=step)
            for step in ("encrypt", "decrypt", "transfer", "trace", "encode")
        ),
        Sample("time", 9.0, "prepare", step="keygen"),
        Sample("peak_memory", 3e8, "compute", party="server"),
        Sample("size", 100_000.0, "compute"),
        Sample("size", 50_000.0, "compute", step="returned"),
        Sample("size", 1_000_000.0, "prepare"),
    ]
    rows = advising.verified([first, second], [outcome(first, "ok", *samples), outcome(second, "timeout")])
    own = {row["cost"]: row["measured"] for row in rows if row["place"] == 1}
    assert own == {
        "evaluation": 3.0,
        "all steps": 4.0,
        "server memory": 3e8,
        "upload": 100_000.0,
        "download": 50_000.0,
        "keys": 1_000_000.0,
    }
    assert {row["measured"] for row in rows if row["place"] == 2} == {None}
    assert not any(row["is_disturbed"] for row in rows)
    noisy = [replace(sample, is_disturbed=True) for sample in samples]
    (mark,) = advice.verified(advising.verified([first], [outcome(first, "ok", *noisy)])).legend
    assert mark == "! disturbed samples only"
    table = advice.verified(rows)
    assert "timeout" in {row[5] for row in table.rows}
    assert ("1", "seal", "upload", "100 kB", "–", "100 kB", "+0.0%", "yes") in table.rows


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("2s", "latency", 2.0),
        ("1.5 ms", "latency", 0.0015),
        (3, "latency", 3.0),
        ("4GB", "server_memory", 4e9),
        ("1 MiB", "upload", 1048576.0),
        ("100Mbit/s", "bandwidth", 1e8),
        ("1e-4", "error", 1e-4),
    ],
)
def test_quantities_have_units(text, name, value):
    assert getattr(read({name: text}), name) == pytest.approx(value)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"latency": "2 lightyears"}, "latency: write a number with a unit"),
        ({"latency": "-1s"}, "latency: write a number"),
        ({"latency": "0s"}, "latency: must be more than 0"),
        ({"latency": True}, "latency: write a number"),
        ({"bandwidth": 20}, "bandwidth: write a number with a unit"),
        ({"latencyy": "2s"}, "did you mean 'latency'?"),
        ({"security": 100}, "security: must be"),
        ({"error": "nan"}, "error: must be"),
    ],
)
def test_limits_that_are_none_are_refused(values, words):
    with pytest.raises(UserError, match=r"^mine") as refusal:
        read(values, "mine")
    assert words in str(refusal.value)


def test_a_file_has_limits(tmp_path):
    path = tmp_path / "limits.yaml"
    path.write_text("latency: 2s\nmemory: 4GB\nlibraries: [seal]\n")
    limits = read(in_file(path)).limits
    assert (limits.latency, limits.client_memory, limits.server_memory) == (2.0, 4e9, 4e9)
    assert limits.libraries == ("seal",)
    for text, words in (("- 1", "a mapping"), ("latency: [", "not YAML"), ("late: 1s", "no such limit")):
        path.write_text(text)
        with pytest.raises(UserError, match=words):
            in_file(path)
    with pytest.raises(UserError, match="cannot read"):
        in_file(tmp_path / "none.yaml")


def test_a_price_needs_the_price_of_a_core():
    with pytest.raises(UserError, match="core_hour"):
        WishText(price=1.0).limits  # noqa: B018 - raises
    assert WishText(price=1.0, core_hour=0.02).limits.price == 1.0
    several, _ = answer(replace(WISH, core_hour=3600.0), "seal")
    assert all(
        each.costs.price.value == pytest.approx(each.threads * each.costs.evaluation_s.value)
        for each in several
    )


@pytest.mark.parametrize(
    ("cores", "most", "threads"),
    [(1, None, (1,)), (2, None, (1, 2)), (6, None, (1, 2, 4)), (8, 2, (1, 2)), (2, 8, (1, 2))],
)
def test_threads_are_powers_of_two_up_to_the_cores_or_the_limit(cores, most, threads):
    class Facts:
        def __init__(self):
            self.cores = cores

    assert wished(SIGN, "sign", WishText(threads=most), Facts()).threads == threads


def test_a_predictor_predicts_equal_programs_once_and_states_missing_tables():
    table = CostTable("host", "seal", "build", {})
    predictor = Predictor({"seal": table, "openfhe": table})
    spec = replace(SIGN.parameters("ckks"), ring_dimension=32768)
    tuned = replace(spec, tuning="recommended")
    assert predictor(SIGN, spec, "seal", 1) is predictor(SIGN, tuned, "seal", 1)
    assert predictor(SIGN, spec, "seal", 1) is not predictor(SIGN, spec, "seal", 2)
    digits = [predictor(SIGN, each, "openfhe", 1).key_bytes for each in (spec, tuned)]
    assert digits[0] != digits[1]
    with pytest.raises(UncoveredError, match="calibrate"):
        Predictor({"seal": "run calibrate"})(SIGN, SIGN.parameters("ckks"), "seal", 1)


def test_costs_of_another_clock_or_host_are_never_used_silently(monkeypatch):
    asked = []

    def cost_table(database, facts, variant, **conditions):
        asked.append(conditions)
        return CostTable("host", variant, "build", {}, remarks=(REMARK,))

    monkeypatch.setattr(advising.predicting, "cost_table", cost_table)
    monkeypatch.setattr(advising.reference_kernel_baseline, "now_s", lambda: 5e-5)
    facts = host.collect()
    wish = wished(SIGN, "sign", WishText(libraries=["seal"], other_host=True), facts)
    _, remarks = advising.predictor(None, wish, facts, "run")
    assert asked == [{"accepts_other_hosts": True, "reference_kernel_s": 5e-5, "but_of": "run"}]
    assert remarks == [REMARK]


def test_a_link_adds_the_time_of_transfer():
    prediction = predicted(SIGN, SIGN.parameters("ckks"), "seal", 1)
    alone, sent = (advising.costs(prediction, link) for link in (Link(), Link(8e6, 0.1)))
    assert (alone.transfer_s, sent.transfer_s) == (0.0, pytest.approx(0.15 + 0.1))
    assert sent.latency_s.value == pytest.approx(alone.latency_s.value + 0.25)
    assert math.isclose(sum(alone.operations_s.values()), prediction.evaluation.value)


def test_a_workload_without_a_scheme_here_is_left_out_with_the_reason():
    def refuses(*_):
        raise Unsupported("no rotation here")

    several = advising.candidates(replace(WISH, threads=(1,)), available("seal"), refuses)
    assert {each.reason for each in several} == {"no rotation here"}


@pytest.mark.parametrize(
    ("variant", "bits", "words"),
    [("openfhe", 38, "OpenFHE may choose larger primes"), ("openfhe", 36, None), ("seal", 38, None)],
)
def test_a_library_that_chooses_primes_needs_room_in_the_security_limit(variant, bits, words):
    """With a special prime of 60 bits, 44 + 3 · 38 bits are 218, the limit at N = 8192: OpenFHE's primes are larger."""
    spec = replace(
        SIGN.parameters("ckks"),
        ring_dimension=8192,
        modulus_bits=(bits + 6, *[bits] * 3, 60),
        scale_bits=bits,
    )
    reason = advising._reason_against_larger_primes(spec, registry.declaration(variant))
    assert reason is None if words is None else words in reason


def test_the_largest_error_is_the_tolerance_of_a_workload_unless_a_limit_is_given():
    @computation(x=reals(8), tolerance=1e-2)
    def square(x):
        return x * x

    facts = host.collect()
    assert wished(square, "square", WishText(), facts).limits.error == 1e-2
    assert wished(square, "square", WishText(error=1e-5), facts).limits.error == 1e-5
