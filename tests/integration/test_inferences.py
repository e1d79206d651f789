"""What inference costs, moves and is worth: the view, the listing, the page and its charts, from a recorded run."""

from __future__ import annotations

import json

import golden
import pytest
from command import Ciphermark
from dashboard import dashboard

from ciphermark_core.model import ParameterSpec, Sample
from ciphermark_db.database import Database
from ciphermark_workloads.inference.figures import INFERENCES, PARTS

STEPS = {
    "pack": 0.001,
    "encrypt": 0.019,
    "deserialize": 0.006,
    "serialize": 0.002,
    "decrypt": 0.0005,
    "unpack": 0.0005,
}
NETWORK_S = 0.05


def samples(factor=1.0, images=1, is_encrypted=False, labels=True):
    infer_s = factor * images * NETWORK_S
    times = {
        **{(None, step): images * seconds for step, seconds in STEPS.items()},
        (None, "evaluate"): infer_s,
        ("client", None): images * 0.022,
        ("server", None): infer_s + images * 0.008,
        (None, "trace"): 0.5,
        (None, "encode"): 1.5,
    }
    weights = (
        (Sample("size", 21e6, "load"), Sample("time", 0.1, "load", None, "evaluate")) if is_encrypted else ()
    )
    return (
        *(
            Sample("time", seconds, "infer", party, step, ordinal=ordinal)
            for (party, step), seconds in times.items()
            for ordinal in range(8)
        ),
        *weights,
        Sample("size", images * 2.75e6, "infer"),
        Sample("size", images * 131e3, "infer", None, "returned"),
        Sample("size", 116e6, "prepare"),
        Sample("agreement", 1.0, "infer"),
        *((Sample("accuracy", 0.875, "infer"),) if labels else ()),
        Sample("logit_error", 3e-4, "infer"),
        Sample("margin", 0.25, "infer"),
    )  # fmt: skip


@pytest.fixture(scope="module")
def recorded(tmp_path_factory, new_url, make):
    """Two variants, of one also eight images in a pass, two threads, and weights that are encrypted; one failed."""
    url, run = new_url(), make.run()

    def case(variant, operation="lola-mnist", threads=1, **dimensions):
        return make.case(
            variant,
            parameters=ParameterSpec("ckks", 8192, None, scale_bits=28),
            vector_length=1,
            experiment="inference",
            operation=operation,
            threads=threads,
            dimensions=dimensions,
        )

    with Database.open(url) as database:
        database.migrate()
        database.record_run(run)
        for made, found in (
            (case("seal"), samples()),
            (case("pyfhel"), samples(2.0, labels=False)),
            (case("seal", threads=2), samples(0.6)),
            (case("seal", inputs_per_pass=8), samples(0.9, images=8)),
            (case("seal", "lola-mnist-encrypted"), samples(1.5, is_encrypted=True)),
            (case("seal", "cryptonets"), (*samples(40), Sample("images", 4096, "infer"))),
        ):
            database.record_outcome(make.outcome(run, made, found))
        database.record_outcome(
            make.outcome(run, case("tenseal"), status="unsupported", error="it rotates nothing")
        )
    return Ciphermark(tmp_path_factory.mktemp("inferences") / "data", url), url, run.id


def asked(recorded, query):
    _, url, run_id = recorded
    with Database.open(url) as database:
        table = database.query(query.replace("RUN", f"'{run_id}'"))
        return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def test_a_row_has_what_a_pass_costs_moves_and_is_worth(recorded) -> None:
    rows = asked(recorded, "select * from inferences where run_id = RUN")
    assert len(rows) == 6  # and none of what failed
    (row,) = [row for row in rows if row["variant"] == "seal" and row["threads"] == row["images"] == 1
              and row["operation"] == "lola-mnist"]  # fmt: skip
    assert (row["infer_s"], row["image_s"], row["images_per_s"]) == pytest.approx((0.05, 0.05, 20))
    assert (row["encrypt_s"], row["decrypt_s"], row["serialize_s"]) == pytest.approx((0.02, 0.001, 0.008))
    assert (row["client_s"], row["server_s"], row["preparation_s"]) == pytest.approx((0.022, 0.058, 2.0))
    assert (row["upload"], row["download"], row["keys_size"]) == (2.75e6, 131e3, 116e6)
    assert row["weights_size"] is None
    assert (row["agreement"], row["accuracy"], row["logit_error"], row["margin"]) == (1, 0.875, 3e-4, 0.25)


def test_images_of_a_pass_count_each_and_encrypted_weights_apart(recorded) -> None:
    rows = asked(recorded, "select * from inferences where run_id = RUN and variant = 'seal'")
    (batch,) = [row for row in rows if row["options"] == "inputs_per_pass 8"]
    assert (batch["images"], batch["infer_s"]) == (8, pytest.approx(0.36))
    assert (batch["images_per_s"], batch["image_s"]) == pytest.approx((8 / 0.36, 0.045))
    (encrypted,) = [row for row in rows if row["operation"] == "lola-mnist-encrypted"]
    assert (encrypted["weights_size"], encrypted["upload"], encrypted["keys_size"]) == (21e6, 2.75e6, 116e6)
    assert encrypted["infer_s"] == pytest.approx(0.075)


def test_images_that_lie_side_by_side_count_each(recorded) -> None:
    (row,) = asked(recorded, "select * from inferences where run_id = RUN and operation = 'cryptonets'")
    assert (row["images"], row["infer_s"]) == (4096, pytest.approx(2.0))
    assert (row["images_per_s"], row["image_s"]) == pytest.approx((2048, 2 / 4096))
    assert (row["agreeing"], row["correct"]) == ("4096 of 4096", "3584 of 4096")


def test_results_have_a_table_of_it(recorded) -> None:
    ciphermark, _, run_id = recorded
    golden.compare("inferences.md", ciphermark("results", run_id, "--format", "md").out)


def test_there_is_a_page_with_the_figures_and_published_ones(recorded) -> None:
    _, url, run_id = recorded
    with dashboard(url) as client:
        page = client.get("/inference", params={"run": run_id}).text
        for told in (INFERENCES.title, PARTS.title, "lola-mnist", "Threadripper", "Azure", "80-bit"):
            assert told in page, told
        assert "ResNet-20" not in page
        for name in ("inferences", "classification"):
            svg = client.get(f"/figures/{name}.svg", params={"run": run_id})
            assert (svg.status_code, "lola-mnist" in svg.text) == (200, True)
        chosen = client.get("/figures/inferences.csv", params={"run": run_id, "variant": "pyfhel"}).text
        assert len(chosen.splitlines()) == 2


def test_published_times_stand_beside_ours_on_one_thread(recorded) -> None:
    query = "select distinct result, variant from published_match where run_id = RUN and published_host like '%3975WX%'"
    assert sorted((row["result"], row["variant"]) for row in asked(recorded, query)) == [
        ("LoLa-MNIST encrypted weights", "seal"),
        ("LoLa-MNIST plain weights", "pyfhel"),
        ("LoLa-MNIST plain weights", "seal"),
    ]


def test_bars_of_a_classification_add_up_to_both_parties(recorded) -> None:
    _, url, run_id = recorded
    with dashboard(url) as client:
        chart = json.loads(client.get("/figures/classification.json", params={"run": run_id}).text)
    values = chart["data"]["values"]
    sums = {}
    for row in values:
        place = (row["bar"], row["panel"])
        sums[place] = sums.get(place, 0) + row["seconds"]
    assert len(sums) == 6
    assert min(sums.values()) == pytest.approx(0.022 + 0.6 * 0.05 + 0.008)
    (batch,) = [total for (bar, _), total in sums.items() if bar == "seal, inputs_per_pass 8"]
    assert batch == pytest.approx(8 * (0.022 + 0.9 * 0.05 + 0.008))
