"""docs/sql.md: its queries run, and it describes every column of every view."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ciphermark_core.model import OperationCount, ProgramUse, Sample
from ciphermark_db.gateway import Database
from ciphermark_db.views import view_files

DOCUMENT = (Path(__file__).parents[2] / "docs" / "sql.md").read_text(encoding="utf-8")
QUERIES = re.findall(r"```sql\n(.*?)```", DOCUMENT, re.DOTALL)
# The steps between views are no public interface.
PUBLIC = [item.name for item in view_files() if item.kind == "view" and item.name != "trial_group"]
VIEWS = (*PUBLIC, "metric", "dimension", "experiment", "published")


PROGRAM = ProgramUse("infer", "d" * 64, "bfv", 1, 0, 2, (OperationCount("mul", 1, 3),), b"content")


@pytest.fixture(scope="module")
def filled(database: Database, make) -> Database:
    """Two runs with every experiment, and one failure."""
    times = make.times([0.1 + 0.01 * i for i in range(8)])
    memory = (Sample("peak_memory", 5e7, "operation"),)
    size = (Sample("size", 131_177.0, "ciphertext"),)
    depth = (Sample("depth", 3.0, "operation"), Sample("is_capped", 0.0, "operation"))
    noise = tuple(Sample("noise_budget", 90.0 - 30 * k, "operation", repetitions=k) for k in range(3))
    learnt = (Sample("time", 0.1, "infer"), Sample("agreement", 1.0, "infer"))
    for _ in range(2):
        run = make.run()
        database.record_run(run)
        for variant in ("seal", "seal-hexl"):
            for case, samples in (
                (make.case(variant), (*times, *memory)),
                (make.case(variant, experiment="serialization", operation="zstd"), size),
                (make.case(variant, experiment="depth", operation="mul", dimensions={"cap": 9}), depth),
                (make.case(variant, experiment="noise", operation="mul", dimensions={"cap": 9}), noise),
                (
                    make.case(
                        variant, experiment="repetition", operation="add", dimensions={"repetitions": 300}
                    ),
                    times,
                ),
                (
                    make.case(
                        variant,
                        experiment="learning",
                        operation="lmc-plain",
                        dimensions={"data_set": "boston"},
                    ),
                    learnt,
                ),
            ):
                database.record_outcome(make.outcome(run, case, samples, programs=(PROGRAM,)))
        failed = make.case("tenseal", operation="rotate")
        database.record_outcome(make.outcome(run, failed, status="unsupported", error="no rotation"))
    return database


def test_there_are_enough() -> None:
    assert len(QUERIES) >= 10


@pytest.mark.parametrize("query", QUERIES, ids=range(len(QUERIES)))
def test_query_runs(filled: Database, query: str) -> None:
    table = filled.query(query)
    assert table.columns
    assert table.rows or "security_2018 <> security_2024" in query


@pytest.mark.parametrize("view", VIEWS)
def test_the_tables_list_the_columns(database: Database, view: str) -> None:
    section = DOCUMENT.split(f"### `{view}`\n", 1)[1].split("\n#", 1)[0]
    assert (
        tuple(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))
        == database.query(f"select * from {view} limit 0").columns
    )
