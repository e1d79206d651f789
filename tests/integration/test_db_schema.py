"""Migrations and views: applied once, whoever applies them, all or nothing."""

from __future__ import annotations

import csv
import re
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, replace
from importlib.resources import files
from pathlib import Path

import psycopg
import pytest
from command import Ciphermark
from processes import PATIENCE_S

from ciphermark_core.descriptor import DIMENSIONS
from ciphermark_core.errors import UserError
from ciphermark_core.experiments import EXPERIMENTS, Experiment
from ciphermark_core.metrics import METRICS, Metric
from ciphermark_db.database import Database
from ciphermark_db.schema import STATISTICS, Migration, migrations, pending, view_files
from ciphermark_measure.experiments import KINDS


@pytest.fixture(scope="module")
def dump(server: str) -> Callable[[str], list[str]]:
    """Dumps the schema of a URL with the server's own pg_dump."""
    with psycopg.connect(server) as connection:
        (folder,) = connection.execute("select setting from pg_config where name = 'BINDIR'").fetchone()

    def dumped(url: str) -> list[str]:
        command = [str(Path(folder) / "pg_dump"), "--schema-only", "--no-owner", url]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return [line for line in text.splitlines() if not line.startswith(("\\restrict", "\\unrestrict"))]

    return dumped


def test_views_that_are_other_than_the_files_are_made_again(new_url: Callable[[], str], dump) -> None:
    url = new_url()
    with Database.open(url) as database:
        before = dump(url)
        database.query("comment on view noise is 'of an earlier version'", read_only=False)
        assert dump(url) != before
        database.query("update view_file set checksum = 'of an earlier version'", read_only=False)
        database.migrate()
        assert dump(url) == before


def test_migrating_again_changes_nothing(new_url: Callable[[], str], dump) -> None:
    url = new_url()
    with Database.open(url) as database:
        before = dump(url), database.query("select * from schema_migration").rows
        database.migrate()
        assert (dump(url), database.query("select * from schema_migration").rows) == before


def test_a_command_that_plans_nothing_knows_every_experiment_and_metric(
    empty_url: Callable[[], str], tmp_path: Path
) -> None:
    """Without them an import loses units, and the samples of trials that ended exhausted. In a fresh interpreter."""
    url = empty_url()
    command = Ciphermark(tmp_path / "data", url).start("db", "migrate")
    _, errors = command.communicate(timeout=PATIENCE_S)
    assert command.returncode == 0, errors
    with Database.open(url) as database:
        rows = database.query("select name, determines, is_until_exhausted from experiment").rows
        assert set(rows) == {astuple(kind.recorded) for kind in KINDS.values()}
        units = database.query("select unit from metric where name in ('database_size', 'logit_error')").rows
        assert set(units) == {(METRICS[name].unit,) for name in ("database_size", "logit_error")}


def test_many_migrate_at_once(empty_url: Callable[[], str]) -> None:
    url = empty_url()

    def migrate(_: int) -> None:
        with Database.open(url) as database:
            database.migrate()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(migrate, range(6)))
    with Database.open(url) as database:
        assert database.query("select count(*) from schema_migration").rows == [(len(migrations()),)]


def test_versions_are_consecutive() -> None:
    assert [migration.version for migration in migrations()] == list(range(1, len(migrations()) + 1))


def test_a_newer_database_is_refused(new_url: Callable[[], str]) -> None:
    with Database.open(new_url()) as database:
        database.query("insert into schema_migration values (9999, 'future', 'x')", read_only=False)
        with pytest.raises(UserError, match=r"migration 9999.*update Ciphermark"):
            database.migrate()


def test_a_changed_migration_is_refused() -> None:
    known = [Migration(1, "first", b"select 1"), Migration(2, "second", b"select 2")]
    assert pending(known, {}) == known
    assert pending(known, {1: known[0].checksum}) == known[1:]
    with pytest.raises(UserError, match=r"migration 1 \(first\) differs from the text that was applied"):
        pending(known, {1: known[1].checksum})


def test_what_a_migration_computes_is_what_is_recorded(new_url: Callable[[], str], make) -> None:
    """Levels of the 2024 table, by request and by what was resolved: a chain with 128 bits by the 2018 table alone."""
    text = migrations()[2].text.decode()
    (statement,) = re.findall(
        r"^update case_info\nset security_compared_2024 .*?;", text, re.MULTILINE | re.DOTALL
    )
    with Database.open(new_url()) as database:
        run = make.run()
        database.record_run(run)
        for table in ("2018", "2024"):
            for tuning in ("matched", "recommended"):
                spec = replace(make.case().parameters, security_table=table, tuning=tuning)
                case, failed = (make.case(variant, parameters=spec) for variant in ("seal", "pyfhel"))
                parameters = make.parameters(spec, (2**54 - 33,) * 4)
                database.record_outcome(make.outcome(run, case, make.times([1.0]), parameters=parameters))
                database.record_outcome(make.outcome(run, failed, status="unsupported", error="none"))
        sql = "select security_table, tuning, status, security_compared_2024 from case_info order by 1, 2, 3"
        recorded = database.query(sql).rows
        assert [row[3] for row in recorded] == [0, None, 0, None, 0, None, 128, 128]
        database.query("update case_info set security_compared_2024 = -1", read_only=False)
        database.query(statement, read_only=False)
        assert database.query(sql).rows == recorded


def test_a_role_without_rights_is_told(empty_url: Callable[[], str], server: str) -> None:
    url = empty_url()
    with psycopg.connect(server, autocommit=True) as administrator:
        administrator.execute("create role guest login")
    with (
        Database.open(url.replace("ciphermark@", "guest@")) as database,
        pytest.raises(UserError, match="permission denied for schema public"),
    ):
        database.migrate()


def test_a_view_of_the_users_own_is_not_lost(new_url: Callable[[], str]) -> None:
    with Database.open(new_url()) as database:
        database.query("create view mine as select max(median) from results", read_only=False)
        database.query("update view_file set checksum = 'of an earlier version'", read_only=False)
        with pytest.raises(
            UserError, match=r"(?s)cannot drop view results.*view mine depends on view results"
        ):
            database.migrate()
        assert database.query("select * from mine").rows == [(None,)]


_OF_VIEWS = """
    select table_name, column_name, udt_name,
        col_description(format('%%I.%%I', table_schema, table_name)::regclass, ordinal_position)
    from information_schema.columns
    where table_schema = current_schema() and table_name = any (%s)
"""
_NUMBERS = {
    kind for name in ("int2", "int4", "int8", "float4", "float8", "numeric") for kind in (name, f"_{name}")
}


@pytest.fixture(scope="module")
def of_views(database: Database) -> list[tuple[str, str, str, str]]:
    """Of each column of each view: the view, the name, the type, the comment."""
    names = [*(item.name for item in view_files() if item.kind == "view"), *STATISTICS]
    found = database.query(_OF_VIEWS, [names]).rows
    assert {row[0] for row in found} == set(names)
    return found


def test_one_name_is_one_thing_in_all_views(of_views: list[tuple[str, str, str, str]]) -> None:
    """Equal names have equal types and meanings, and no view is called as a column is."""
    kinds: dict[str, set[tuple[str, str]]] = {}
    for _, column, kind, comment in of_views:
        kinds.setdefault(column, set()).add((kind, comment))
    assert {column: found for column, found in kinds.items() if len(found) > 1} == {}
    assert ({view for view, *_ in of_views} - {*STATISTICS}) & set(kinds) == set()


def test_every_number_of_a_view_has_its_unit(of_views: list[tuple[str, str, str, str]]) -> None:
    missing = {
        column
        for _, column, kind, comment in of_views
        if (kind in _NUMBERS) != bool(re.search(r" \[[^\[\]]+\]$", comment)) and kind != "jsonb"
    }
    assert missing == set()


def test_a_meaning_is_of_a_column(of_views: list[tuple[str, str, str, str]]) -> None:
    """What is described and nowhere there is a name that nobody can ask for."""
    text = (files("ciphermark_db") / "columns.csv").read_text(encoding="utf-8")
    described = {row["column"] for row in csv.DictReader(text.splitlines())}
    assert described - {column for _, column, _, _ in of_views} == set()


def test_every_view_and_column_is_described(database: Database) -> None:
    undescribed = database.query(
        """
        select c.relname, a.attname
        from pg_class as c
        join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0
        where c.relname = any (%s)
          and c.relnamespace = 'public'::regnamespace
          and (col_description(c.oid, a.attnum) is null or obj_description(c.oid, 'pg_class') is null)
        """,
        [
            [
                *(item.name for item in view_files()),
                *STATISTICS,
                "published",
                "metric",
                "dimension",
                "experiment",
            ]
        ],
    )
    assert undescribed.rows == []


def test_the_tables_of_the_registries_say_what_the_registries_say(database: Database) -> None:
    database.migrate()  # what was registered since
    table = database.query(
        "select name, unit, direction, threshold, label, sentence, threshold_kind, adds_up, false, probe from metric"
    ).rows
    # how often a process measures it is no column: comparisons ask the registry
    assert {Metric(*row) for row in table} >= {replace(metric, is_once=False) for metric in METRICS.values()}
    found = database.query("select name, kind, sentence from dimension").rows
    assert {
        (item.name, item.kind.__name__, item.sentence) for item in DIMENSIONS.values() if item.is_of_family
    } <= set(found)
    found = database.query("select name, determines, is_until_exhausted from experiment").rows
    assert set(EXPERIMENTS) == set(KINDS)
    assert {Experiment(*row) for row in found} == set(EXPERIMENTS.values())


def test_what_a_registry_says_again_replaces_what_it_said(new_url: Callable[[], str]) -> None:
    with Database.open(new_url()) as database:
        database.query("update metric set sentence = 'Earlier.' where name = 'time'", read_only=False)
        database.query(
            "insert into metric values ('mine', 'm', null, 1, 'factor', 'mine', '', true)", read_only=False
        )
        database.migrate()
        found = database.query("select name, sentence from metric where name in ('time', 'mine')").rows
        assert sorted(found) == [("mine", ""), ("time", METRICS["time"].sentence)]
