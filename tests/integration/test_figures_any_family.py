"""A family of workloads of which nobody here has heard: its page, table and section come from its metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import golden
import psycopg
import pytest
from command import Ciphermark
from dashboard import dashboard, rows_of

from ciphermark_core import metrics
from ciphermark_core.metrics import Metric, register
from ciphermark_core.model import Sample
from ciphermark_dashboards import report
from ciphermark_dashboards.store import Store
from ciphermark_db.database import Database

if TYPE_CHECKING:  # tests/unit has a module of that name, too
    from conftest import Maker

ANSWER_BYTES = Metric(
    "answer_rate", "bytes", "higher", 1.05, "answer rate", "Bytes that are answered a second."
)
STEPS = {"answer": 0.2, "answer.evaluate": 0.15, "answer.server": 0.16}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory, new_url, make: Maker):
    """A database with a run of that family, by two variants; the command line on it, and the run's id."""
    register(ANSWER_BYTES)
    url = new_url()
    run = make.run()
    with Database.open(url) as database:
        database.migrate()
        database.record_run(run)
        for variant, factor in (("seal", 1.0), ("tenseal", 3.0)):
            times = [
                Sample("time", factor * seconds, stage, None, step or None, ordinal=ordinal)
                for phase, seconds in STEPS.items()
                for stage, _, step in [phase.partition(".")]
                for ordinal in range(9)
            ]
            own = Sample("answer_rate", 5e6 / factor, "answer")
            peak = Sample("peak_memory", 40e6 * factor, "answer", "server")
            case = make.case(variant, experiment="retrieval", operation="by-keyword")
            database.record_outcome(make.outcome(run, case, (*times, own, peak)))
        failed = make.case("pyfhel", experiment="retrieval", operation="by-keyword")
        database.record_outcome(make.outcome(run, failed, status="unsupported", error="it rotates nothing"))
    yield Ciphermark(tmp_path_factory.mktemp("family") / "data", url), url, run.id
    del metrics._registered[ANSWER_BYTES.name]  # other files of tests count the product's metrics


def test_it_has_a_page(recorded) -> None:
    _, url, run_id = recorded
    with dashboard(url) as client:
        page = client.get("/workloads", params={"run": run_id}).text
        for told in ("retrieval", "by-keyword", "Answer", "it rotates nothing", "5.00 MB", "evaluate"):
            assert told.lower() in page.lower()
        rows = rows_of(client, "workloads", run=run_id, variant="seal")
        assert {(row["stage"], row["part"], row["metric"], float(row["median"])) for row in rows} == {
            ("answer", "", "time", 0.2),
            ("answer", "evaluate", "time", 0.15),
            ("answer", "server", "time", 0.16),
            ("answer", "", "answer_rate", 5e6),
            ("answer", "server", "peak_memory", 40e6),
        }
        sql = client.get("/figures/workloads.sql", params={"run": run_id, "variant": "seal"}).text
        with psycopg.connect(url) as connection:
            assert len(connection.execute(sql).fetchall()) == len(rows) == len(STEPS) + 2
        svg = client.get("/figures/workloads.svg", params={"run": run_id})
        assert "by-keyword" in svg.text


def test_it_has_a_table(recorded) -> None:
    ciphermark, _, run_id = recorded
    golden.compare("any-family.md", ciphermark("results", run_id, "--format", "md").out)


def test_it_has_a_section_in_the_report(recorded) -> None:
    _, url, run_id = recorded
    with Store(url) as store:
        text = report.FORMATS["md"](report.made(store, run_id)).decode()
    assert "Workloads: family retrieval" in text
    assert "fastest median time of answer 200 ms (seal)" in text
