"""Layers in the records of runs: the view, the listing, the pages and their charts, from a recorded run; and a run."""

from __future__ import annotations

import json

import golden
import pytest
from command import Ciphermark
from dashboard import dashboard

from ciphermark_core.model import LayerFacts, OperationCount, ParameterSpec, ProgramUse, Sample
from ciphermark_dashboards import report
from ciphermark_dashboards.store import Store
from ciphermark_db.database import Database
from ciphermark_workloads.inference.figures import LAYERS
from ciphermark_workloads.retrieval.figures import ANSWER_LAYERS

COUNTS = (OperationCount("mul_plain", 3, 4), OperationCount("rotate", 3, 2), OperationCount("rotate", 2, 5))
# By name: level where it begins and ends, log2 of its scale, seconds, largest value and error. Not in order of the
# alphabet, nor of time.
NETWORK = {
    "widen": (3, 2, 28.5, 0.03, 2.5, 1e-3),
    "square": (2, 1, 28.25, 0.01, 6.25, 2e-3),
    "narrow": (1, 0, 28.0, 0.06, 4.0, 5e-4),
}
ANSWER = {"products": (0, 0, None, 0.002, None, None), "rotations": (0, 0, None, 0.006, None, None)}


def program(stage, scheme, layers):
    facts = tuple(
        LayerFacts(name, level, end, scale, 1000 * place, 500 * place, COUNTS)
        for place, (name, (level, end, scale, *_)) in enumerate(layers.items(), 1)
    )
    digest = f"{stage}{scheme}".ljust(64, "0")
    return ProgramUse(stage, digest, scheme, 3, 1, 2, COUNTS, digest.encode(), facts)


def samples(stage, layers, factor=1.0):
    for name, (*_, seconds, largest, error) in layers.items():
        for ordinal in range(8):
            yield Sample("layer_time", factor * seconds, stage, step=name, ordinal=ordinal)
        if error is not None:
            yield Sample("layer_largest", largest, stage, step=name)
            yield Sample("layer_error", factor * error, stage, step=name)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory, new_url, make):
    """A network on two variants, of which one has two processes; an answer; and a workload without layers."""
    url, run = new_url(), make.run()
    network = ParameterSpec("ckks", 8192, None, scale_bits=28)
    table = ParameterSpec("bfv", 4096, None, plain_modulus=65537)

    def case(variant, parameters, experiment, operation):
        return make.case(
            variant, parameters=parameters, vector_length=1, experiment=experiment, operation=operation
        )

    with Database.open(url) as database:
        database.migrate()
        database.record_run(run)
        for variant, factor, process in (("seal", 1.0, 0), ("seal", 1.0, 1), ("pyfhel", 2.0, 0)):
            outcome = make.outcome(
                run,
                case(variant, network, "inference", "digits"),
                (
                    *samples("infer", NETWORK, factor + process),
                    Sample("time", factor * 0.1, "infer", step="evaluate"),
                    Sample("logit_error", 1e-4, "infer"),
                    Sample("agreement", 1.0, "infer"),
                    Sample("margin", 0.5, "infer"),
                ),
                process=process,
                programs=(program("infer", "ckks", NETWORK),),
            )
            database.record_outcome(outcome)
        database.record_outcome(
            make.outcome(
                run,
                case("seal", table, "retrieval", "fast-pir"),
                (*samples("answer", ANSWER), Sample("time", 0.008, "answer", step="evaluate")),
                programs=(program("answer", "bfv", ANSWER),),
            )
        )
        whole = ProgramUse("infer", "f" * 64, "ckks", 3, 1, 2, COUNTS, b"whole")
        database.record_outcome(
            make.outcome(
                run,
                case("seal", network, "inference", "one-layer"),
                (Sample("time", 0.1, "infer", step="evaluate"),),
                programs=(whole,),
            )
        )
    return Ciphermark(tmp_path_factory.mktemp("layers") / "data", url), url, run.id


def asked(recorded, query):
    _, url, run_id = recorded
    with Database.open(url) as database:
        table = database.query(query.replace("RUN", f"'{run_id}'"))
        return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def test_a_row_has_what_a_layer_is_costs_and_comes_to(recorded):
    rows = asked(
        recorded, "select * from layers where run_id = RUN order by operation, variant desc, position"
    )
    assert len(rows) == 8
    names = ["widen", "square", "narrow"]
    assert [row["layer"] for row in rows] == [*names, *names, "products", "rotations"]
    first = rows[0]
    assert (first["operation"], first["variant"], first["stage"], first["position"]) == (
        "digits",
        "seal",
        "infer",
        1,
    )
    assert (first["level"], first["end_level"], first["end_scale_bits"]) == (3, 2, 28.5)
    assert first["operations"] == {"mul_plain": 4, "rotate": 7}
    assert [(row["operand_bytes"], row["result_bytes"]) for row in rows[:3]] == [
        (1000, 500),
        (2000, 1000),
        (3000, 1500),
    ]
    # Samples of both processes: 8 of each factor, 1 and 2.
    assert [row["layer_time"] for row in rows[:3]] == pytest.approx([0.045, 0.015, 0.09])
    assert [row["layer_time"] for row in rows[3:6]] == pytest.approx([0.06, 0.02, 0.12])
    assert (first["ci_low"], first["ci_high"]) == pytest.approx((0.03, 0.06))
    assert [row["layer_share"] for row in rows[:3]] == pytest.approx([0.3, 0.1, 0.6])
    # The largest of all trials.
    assert (first["layer_largest"], first["layer_error"]) == pytest.approx((2.5, 2e-3))


def test_exact_schemes_have_no_errors_and_no_scales(recorded):
    rows = asked(recorded, "select * from layers where run_id = RUN and scheme = 'bfv'")
    unknown = ("end_scale_bits", "layer_largest", "layer_error")
    assert {row[name] for row in rows for name in unknown} == {None}
    assert sum(row["layer_share"] for row in rows) == pytest.approx(1)


def test_times_of_layers_are_in_no_other_figure(recorded):
    """Of networks: what the view ``inferences`` sums up has no step of a layer."""
    rows = asked(recorded, "select * from inferences where run_id = RUN and operation = 'digits'")
    assert {row["variant"]: row["infer_s"] for row in rows} == pytest.approx({"seal": 0.1, "pyfhel": 0.2})


def test_results_have_a_line_for_each_network(recorded):
    ciphermark, _, run_id = recorded
    golden.compare("layers.md", ciphermark("results", run_id, "--format", "md").out)


@pytest.mark.parametrize(
    ("path", "figure", "seen"),
    [("/inference", LAYERS, ("widen", "2e-3", "28.5")), ("/retrieval", ANSWER_LAYERS, ("products",))],
    ids=["inference", "retrieval"],
)
def test_pages_show_layers_as_stacked_bars(recorded, path, figure, seen):
    _, url, run_id = recorded
    with dashboard(url) as client:
        page = client.get(path, params={"run": run_id}).text
        chart = json.loads(client.get(f"/figures/{figure.name}.json", params={"run": run_id}).text)
        svg = client.get(f"/figures/{figure.name}.svg", params={"run": run_id})
    assert figure.title in page
    for text in ("4 mul_plain, 7 rotate", *seen):
        assert text.replace("2e-3", "0.002") in page, text
    assert svg.status_code == 200
    names = [*(NETWORK if figure is LAYERS else ANSWER)]
    bars = {}
    for row in sorted(chart["data"]["values"], key=lambda row: row["start"]):
        bars.setdefault(row["bar"], []).append(row["part"])
    assert bars == dict.fromkeys(("pyfhel", "seal") if figure is LAYERS else ("seal",), names)


def test_reports_say_which_layer_takes_most(recorded):
    _, url, run_id = recorded
    with Store(url) as store:
        sections = report.made(store, run_id).sections
    told = [text for section in sections for item in section.figures for text in report.sentences(item)]
    summary = "\n".join(told)
    assert "seal: most of its time is that of “narrow”, 60.0% of 150 ms." in summary
    assert "seal: most of its time is that of “rotations”, 75.0% of 8.00 ms." in summary
