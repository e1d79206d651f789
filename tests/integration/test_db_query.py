"""The gateway's query: reads, never writes, and says what is wrong."""

from __future__ import annotations

import time

import psycopg
import pytest

from ciphermark_core.errors import UserError
from ciphermark_db.database import Database, DatabaseUnavailable, Table


@pytest.mark.parametrize(
    "sql",
    [
        "delete from sample",
        "create table t (x integer)",
        "with gone as (delete from sample returning *) select * from gone",
        "explain analyze delete from sample",
        "commit; drop table trial cascade",
        "do $$ begin delete from sample; commit; end $$",
        "copy trial to '/tmp/ciphermark-trace'",
        "select 1; delete from sample",
        "set transaction read write",
        "copy sample to stdout",
        "copy (select 1) to program 'id'",
        "select pg_read_file('/etc/passwd')",
        "select nonsense",
        "selec",
        "select '\x00'",
    ],
)
def test_refuses_and_goes_on(database: Database, sql: str) -> None:
    with pytest.raises(UserError, match="PostgreSQL: "):
        database.query(sql)
    assert database.query("select 1").rows == [(1,)]


@pytest.mark.parametrize("sql", ["select 1 as one where false", "table run"])
def test_an_answer_without_rows_has_columns(database: Database, sql: str) -> None:
    answer = database.query(sql, max_rows=10)
    assert answer.columns
    assert not answer.rows


@pytest.mark.parametrize("sql", ["commit", "rollback", "", "begin", "set statement_timeout = 0"])
def test_a_statement_without_answer(database: Database, sql: str) -> None:
    assert database.query(sql) == Table((), [])


@pytest.mark.parametrize(
    "sql", ["commit", "rollback", "", "begin", "select", "copy run to stdout", "set jit to on"]
)
def test_whoever_asks_for_rows_gets_some_or_a_reason(database: Database, sql: str) -> None:
    with pytest.raises(UserError, match="has no answer"):
        database.query(sql, max_rows=10)
    assert database.query("select 7 % 4 as rest, '%s'", max_rows=10).rows == [(3, "%s")]


def test_of_an_endless_answer_no_more_is_read_than_asked_for(database: Database) -> None:
    assert len(database.query("select generate_series(1, 3000)", max_rows=3000).rows) == 3000
    begun = time.monotonic()
    with pytest.raises(UserError, match="more than 3,000 rows"):
        database.query("select generate_series(1, 100000000000)", max_rows=3000)
    assert time.monotonic() - begun < 50
    assert database.query("select 1", max_rows=1).rows == [(1,)]


def test_settings_do_not_last(database: Database) -> None:
    database.query("set search_path = nowhere")
    assert database.query("select count(*) from schema_migration").columns == ("count",)


def test_parameters_and_percent_signs(database: Database) -> None:
    assert database.query("select 7 % 4 as rest, '%s' as text") == Table(("rest", "text"), [(3, "%s")])
    assert database.query("select %s + 1", [1]).rows == [(2,)]
    assert database.query("select %(x)s || '%%'", {"x": "a"}).rows == [("a%",)]
    with pytest.raises(UserError):
        database.query("select %s", [1, 2])


def test_time_is_limited(database: Database) -> None:
    with pytest.raises(UserError, match="statement timeout"):
        database.query("select pg_sleep(30)", timeout_s=0.2)


def test_writes_when_asked(database: Database) -> None:
    database.query("create table made (x integer)", read_only=False)
    database.query("insert into made values (1)", read_only=False)
    assert database.query("select x from made").rows == [(1,)]
    database.query("drop table made", read_only=False)


def test_hints_are_passed_on(database: Database) -> None:
    with pytest.raises(UserError, match="Perhaps you meant to reference"):
        database.query("select run_idd from results")


def test_no_server_is_said_without_the_password() -> None:
    with pytest.raises(DatabaseUnavailable) as caught:
        Database.open("postgresql://me:s3cret@127.0.0.1:9/bench")
    assert "127.0.0.1, port 9, database bench" in str(caught.value)
    assert "s3cret" not in str(caught.value)


def test_a_url_that_is_none() -> None:
    with pytest.raises(UserError, match="not a PostgreSQL URL"):
        Database.open("mysql://localhost/x")


def test_reconnects_after_its_connection_was_ended(url: str, server: str) -> None:
    with Database.open(url) as database:
        pid = database.query("select pg_backend_pid()").rows[0][0]
        with psycopg.connect(server, autocommit=True) as administrator:
            administrator.execute("select pg_terminate_backend(%s, 5000)", [pid])
        with pytest.raises(DatabaseUnavailable):
            database.query("select 1")
        assert database.query("select 1").rows == [(1,)]
