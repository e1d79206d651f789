"""The one way to say which run is meant: in SQL, on the command line, and where runs are resumed."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ciphermark_benchmark import run_names
from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.runner.journal import Header, Journal
from ciphermark_core.errors import UserError
from ciphermark_dashboards import store
from ciphermark_db import schema
from ciphermark_db.database import Database
from ciphermark_db.sql import blocks


@pytest.fixture(scope="module")
def recorded(database: Database, make) -> Database:
    """Five runs of two suites, the last one imported though it is the newest."""
    for number, (suite, label, is_imported) in enumerate(
        (
            ("quick", "before", False),
            ("pir-report", None, False),
            ("quick", "after", False),
            ("quick", "before", False),
            ("quick", "elsewhere", True),
        )
    ):
        run = make.run(
            id=f"ab{number}-{number}",
            suite_name=suite,
            label=label,
            started_at=f"2026-01-0{number + 1}T00:00:00+00:00",
        )
        database.record_run(run, is_imported)
    return database


@pytest.mark.parametrize(
    ("asked", "numbers"),
    [
        ("", [3]),
        ("last", [3]),
        ("last~1", [2]),
        ("last~3", [0]),
        ("last~4", [4]),  # what came from an archive comes after all that was measured here
        ("last~5", []),
        ("last:quick", [3]),
        ("last:quick~1", [2]),
        ("last:pir-report", [1]),
        ("last:pir-report~1", []),
        ("last:no", []),
        ("before", [3]),  # the latest that is called so
        ("after", [2]),
        ("elsewhere", [4]),
        ("ab1", [1]),
        ("ab1-1", [1]),
        ("ab", [3, 2]),
        ("b", []),
        ("last~", []),
        ("last~x", []),
        ("%", []),
        ("_", []),
        ("last~2147483648", []),
        ("last~99999999999999999999", []),
    ],
)
def test_what_a_text_means(recorded: Database, asked: str, numbers: list[int]) -> None:
    assert recorded.runs_named(asked) == [f"ab{number}-{number}" for number in numbers]


def test_where_no_run_is_meant_the_latest_is_the_one_that_last_means(recorded: Database) -> None:
    """Not what came from an archive after it."""
    with pytest.raises(UserError, match=r"'nobody'.* the latest is ab3-3;"):
        run_names.resolved(recorded, "nobody")


def test_the_latest_run_is_that_which_was_recorded_last(new_url, make) -> None:
    """A clock that was wrong once does not make its run the latest for ever."""
    with Database.open(new_url()) as database:
        for name, year in (("early", 2026), ("future", 2037), ("late", 2026)):
            database.record_run(make.run(id=name, started_at=f"{year}-01-01T00:00:00+00:00", label="mine"))
        assert [database.runs_named(text) for text in ("last", "last~1", "mine")] == [
            ["late"],
            ["future"],
            ["late"],
        ]
        assert [row["run_id"] for row in database.report("runs", limit=3)] == ["late", "future", "early"]


def test_an_archive_takes_no_label_from_a_run_measured_here(new_url, make) -> None:
    with Database.open(new_url()) as database:
        for name, is_imported in (("older", True), ("here", False), ("colleague", True)):
            database.record_run(make.run(id=name, label="before"), is_imported)
        assert database.runs_named("before") == ["here"]
        database.label_run("here", "after")
        assert database.runs_named("before") == ["colleague"]


def listed(database: Database, **parameters: object) -> list[str]:
    """The ids of a page of the service's list."""
    sql = blocks("jobs")["runs"].decode()
    return [row[0] for row in database.query(sql, {"id": None, "before": None, "limit": 9} | parameters).rows]


def submit(database: Database, name: str) -> None:
    columns = "id, suite, suite_text, variants, needed_variants, needed_isa, needed_memory_mb, queue, state"
    values = f"'{name}', 'quick', '', '{{}}', '{{}}', '{{}}', 0, 'q', 'queued'"
    database.query(f"insert into job ({columns}) values ({values})", read_only=False)


def test_the_service_lists_in_the_order_of_recording_too(new_url, make) -> None:
    """Page by page; a job has its place by its submission, before and after its run is recorded."""
    with Database.open(new_url()) as database:

        def ids(**parameters: object) -> list[str]:
            return listed(database, **parameters)

        submit(database, "waits")
        for name, year in (("early", 2026), ("future", 2037), ("late", 2026)):
            database.record_run(make.run(id=name, started_at=f"{year}-01-01T00:00:00+00:00"))
        submit(database, "begun")
        submit(database, "newest")
        order = ["newest", "begun", "late", "future", "early", "waits"]
        assert ids() == order
        assert [*ids(limit=2), *ids(limit=3, before="begun"), *ids(before="early")] == order
        assert ids(id="future") == ["future"]
        database.record_run(make.run(id="begun", started_at="2020-01-01T00:00:00+00:00"))
        assert ids() == order


# What happens between two pages: a job is submitted, the oldest or the latest one that waits is begun by a host, or a
# run of the command line or of another host's part of a job is recorded.
EVENTS = st.lists(st.sampled_from(("submit", "begin oldest", "begin latest", "run", "part")), max_size=4)


@pytest.fixture(scope="module")
def listing(new_url) -> Iterator[Database]:
    with Database.open(new_url()) as database:
        yield database


@given(before=EVENTS, between=st.lists(EVENTS, max_size=5), limit=st.integers(1, 3))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_pages_are_those_of_the_first_one_whatever_is_recorded_meanwhile(
    listing: Database, make, before: list[str], between: list[list[str]], limit: int
) -> None:
    """Nothing is listed twice or left out, and nothing new shifts what follows."""
    listing.query("truncate job, run, audit cascade", read_only=False)
    waiting: list[str] = []

    def happen(event: str) -> None:
        run = make.run(started_at=f"20{chance.randrange(10, 99)}-01-01T00:00:00+00:00")
        if event == "submit":
            submit(listing, run.id)
            waiting.append(run.id)
        elif event == "run":
            listing.record_run(run)
        elif event == "part" and (begun := [name for name in listed(listing) if name not in waiting]):
            listing.record_run(run)
            listing.query(f"update run set continues = '{begun[0]}' where id = '{run.id}'", read_only=False)
        elif event.startswith("begin") and waiting:
            listing.record_run(replace(run, id=waiting.pop(0 if event == "begin oldest" else -1)))

    chance = random.Random(1)
    for event in before:
        happen(event)
    order = listed(listing, limit=999)
    page, steps = listed(listing, limit=limit), iter(between)
    seen = [*page]
    while page:
        for event in next(steps, ()):
            happen(event)
        page = listed(listing, limit=limit, before=seen[-1])
        seen += page
    assert seen == order


def test_jobs_from_before_the_order_of_recording_keep_their_own(empty_url, make) -> None:
    """Those that no host has begun have the number of one run: among them the time of submission decides."""
    url = empty_url()
    with psycopg.connect(url) as connection:
        connection.execute(blocks("migrate")["create_schema_migration"])
        for step in schema.migrations()[:2]:
            connection.execute(step.text)
            connection.execute(schema._recorded(step))
        connection.execute(
            "insert into job (id, suite, suite_text, variants, needed_variants, needed_isa, needed_memory_mb, queue, "
            "state, submitted_at) select name, 'quick', '', '{}', '{}', '{}', 0, 'q', 'queued', "
            "'2026-11-01'::timestamptz + day * interval '1 day' from unnest(array['c', 'a', 'd', 'b']) "
            "with ordinality as job (name, day)"
        )
    sql = blocks("jobs")["runs"].decode()
    with Database.open(url) as database:
        database.migrate()
        pages = [
            [row[0] for row in database.query(sql, {"id": None, "before": before, "limit": 2}).rows]
            for before in (None, "d", "c")
        ]
        shown = database.query(store.blocks()["open_runs"], {"limit": 9, "offset": 0}).rows
    assert pages == [["b", "d"], ["a", "c"], []]
    assert [row[0] for row in shown] == ["b", "d", "a", "c"]


def test_sql_names_a_run_or_fails(recorded: Database) -> None:
    assert recorded.query("select run_named('ab1'), run_named('last')").rows == [("ab1-1", "ab3-3")]
    for asked, message in (("b2", "no run is named 'b2'"), ("ab", "several runs begin with 'ab'")):
        with pytest.raises(UserError, match=message):
            recorded.query(f"select * from results where run_id = (select run_named('{asked}'))")


def test_a_label_comes_before_the_beginning_of_an_id(recorded: Database) -> None:
    recorded.label_run("ab1-1", "ab2")
    assert recorded.runs_named("ab2") == ["ab1-1"]
    recorded.label_run("ab1-1", None)
    assert recorded.runs_named("ab2") == ["ab2-2"]


def test_the_database_keeps_the_rule_of_names(recorded: Database) -> None:
    with pytest.raises(UserError, match="run_label_check"):
        recorded.label_run("ab1-1", "two words")


def test_a_part_of_a_run_on_another_host_is_not_the_latest(recorded: Database, make) -> None:
    part = make.run(id="part", started_at="2026-02-01T00:00:00+00:00")
    recorded.record_run(part)
    recorded.query("update run set continues = 'ab3-3' where id = 'part'", read_only=False)
    assert recorded.runs_named("last") == ["ab3-3"]
    assert recorded.runs_named("part") == ["part"]


def test_labels_of_unfinished_runs(tmp_path, make) -> None:
    data_directory = DataDirectory(tmp_path, None)
    for number in range(3):
        run = replace(make.run(), id=f"run-{number}", label="mine" if number < 2 else None)
        Journal.create(data_directory, Header(run, "quick.yaml", ()))
    assert Journal.reopen(data_directory, "mine").header.run.id == "run-1"
    assert Journal.reopen(data_directory, "last").header.run.id == "run-2"
    for number in range(3):
        Journal.read(data_directory.pending / f"run-{number}.jsonl").retire(data_directory)
    with pytest.raises(UserError, match=r"run run-1 \(mine\) is finished: nothing is left of it"):
        Journal.reopen(data_directory, "mine")
    with pytest.raises(UserError, match="no journal of run other"):
        Journal.reopen(data_directory, "other")


def test_runs_are_listed_labelled_and_carried_over(ciphermark, new_url, tmp_path) -> None:
    ciphermark("runs")
    suite = ciphermark.suite(
        {
            "kind": "arithmetic",
            "variants": ["cleartext"],
            "schemes": ["bfv"],
            "ring_dimension": [1024],
            "modulus_bits": [27],
            "operations": ["add"],
        }
    )
    assert "note:" not in ciphermark("run", str(suite), "--label", "first").out
    twice = ciphermark("run", str(suite), "--label", "first").out
    assert re.search(r"Note: 2 runs have the label first: ([\w-]+), ([\w-]+). It means \2\n", twice)
    assert "2 runs have the label second" not in ciphermark("runs", "label", "last", "second").out
    assert "2 runs have the label second" in ciphermark("runs", "label", "last~1", "second").out
    ciphermark("runs", "label", "last~1", "first")
    assert "first" in ciphermark("runs").out
    first = sorted(ciphermark("results", "first", "--format", "csv").out.splitlines())
    assert first == sorted(ciphermark("results", "last~1", "--format", "csv").out.splitlines())
    assert "label second" in ciphermark("runs", "label", "last", "second").out
    path = tmp_path / "first.jsonl.xz"
    ciphermark("runs", "export", "first", "-o", str(path))
    elsewhere = replace(ciphermark, data_directory=tmp_path / "elsewhere", database_url=new_url())
    assert "1 of 1 trials are new" in elsewhere("runs", "import", str(path)).out
    assert "0 of 1 trials are new" in elsewhere("runs", "import", str(path)).out
    assert sorted(elsewhere("results", "first", "--format", "csv").out.splitlines()) == first
    assert "(imported)" in elsewhere("runs").out
    again = tmp_path / "again.jsonl.xz"
    elsewhere("runs", "export", "first", "-o", str(again))
    assert again.read_bytes() == path.read_bytes()


def test_mistakes_are_told(ciphermark, tmp_path) -> None:
    for arguments, told in (
        (("run", "smoke", "--label", "two words"), "cannot be the label of a run"),
        (("run", "smoke", "--label", "last"), "means the latest run"),
        (("runs", "import", str(tmp_path / "none.xz")), "cannot read"),
        (("results", "nobody"), "no run is"),
    ):
        assert told in " ".join(ciphermark(*arguments, code=2).err.split())
