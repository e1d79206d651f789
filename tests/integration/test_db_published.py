"""Published values: loaded by migrating, replaced by another file, and found beside ours of the same case."""

from __future__ import annotations

import csv
import io
import re
from importlib.resources import files
from pathlib import Path

import psycopg
import pytest

from ciphermark_core.model import ParameterSpec, Sample
from ciphermark_core.security import level
from ciphermark_db import schema
from ciphermark_db.database import Database

LEARNING = Path(__file__).parents[2] / "reference" / "tenseal-ml.jsonl.xz"
FILE = (files("ciphermark_db") / "published.csv").read_bytes()
HEADER, FIRST, *_ = FILE.decode().splitlines()
COUNT = len(FILE.decode().splitlines()) - 1


def count(database: Database) -> int:
    return database.query("select count(*) from published").rows[0][0]


def test_every_result_is_loaded_in_our_units(database: Database) -> None:
    lines = list(csv.DictReader(io.StringIO(FILE.decode())))
    found = database.query(
        "select source, year, system, host, scheme, result, value, unit, stated from published order by id"
    ).rows
    assert len(found) == len(lines) == COUNT > 40
    for line, (source, year, system, host, scheme, result, value, unit, stated) in zip(
        lines, found, strict=True
    ):
        assert [source, str(year), system, host, scheme, result] == [
            line[name] for name in ("source", "year", "system", "host", "scheme", "case")
        ]
        ours, factor = {"ms": ("s", 1e-3), "MB": ("bytes", 1e6)}.get(line["unit"], (line["unit"], 1))
        assert (unit, value) == (ours, pytest.approx(float(line["value"]) * factor))
        assert stated in (f"{line['value']} {line['unit']}", line["value"])
        assert (stated == line["value"]) == (unit in ("share", "ratio"))


def test_loading_again_writes_nothing(url: str, database: Database) -> None:
    before = database.query("select min(xmin::text), max(xmin::text), count(*) from published").rows
    database.migrate()
    assert database.query("select min(xmin::text), max(xmin::text), count(*) from published").rows == before


def test_another_file_replaces_all_rows(new_url) -> None:
    url = new_url()
    with Database.open(url) as database:
        database.migrate()
        assert count(database) == COUNT
        with psycopg.connect(url, autocommit=True) as connection:
            schema.load_published(connection, f"{HEADER}\n{FIRST}\n".encode())
        assert count(database) == 1
        database.migrate()
        assert count(database) == COUNT


def test_a_file_that_cannot_be_loaded_changes_nothing(new_url) -> None:
    url = new_url()
    with Database.open(url) as database:
        database.migrate()
        broken = f"{HEADER}\n{FIRST.replace(',bfv,', ',rsa,')}\n".encode()
        with psycopg.connect(url, autocommit=True) as connection, pytest.raises(psycopg.Error):
            schema.load_published(connection, broken)
        assert count(database) == COUNT


def matches(database: Database, run_id: str) -> list[tuple]:
    return database.query(
        "select result, variant, ring_dimension, vector_length, median, published_host from published_match where "
        "run_id = %s",
        [run_id],
    ).rows


def test_ours_is_found_by_variant_operation_and_ring(database: Database, make) -> None:
    spec, other = (ParameterSpec("bfv", ring, None, 65537) for ring in (4096, 8192))
    common = {"operation": "mul", "parameters": spec}
    full = make.case("seal", vector_length=4096, **common)
    others = (
        make.case("seal", vector_length=16, **common),
        make.case("seal", vector_length=4096, data_pattern="constant", **common),
        make.case("seal", vector_length=8192, **common),  # two ciphertexts
        make.case("seal", vector_length=4096, threads=2, **common),
        make.case("seal-hexl", vector_length=4096, **common),
        make.case("seal", vector_length=4096, operation="add", parameters=spec),
        make.case("seal", vector_length=4096, operation="mul", parameters=other),
    )
    run = make.record(
        database,
        *(
            {"case": case, "samples": make.times([float(number)])}
            for number, case in enumerate((full, *others), start=1)
        ),
    )
    assert matches(database, run.id) == [("ct x ct N=4096", "seal", 4096, 4096, 1.0, "unstated")]


def test_chains_are_found_by_their_length_at_every_ring(database: Database, make) -> None:
    run = make.run()
    database.record_run(run)
    for ring, repetitions in ((8192, 300), (16384, 300), (8192, 50)):
        spec = ParameterSpec("bgv", ring, None, 65537)
        case = make.case(
            "seal",
            experiment="repetition",
            operation="add",
            parameters=spec,
            vector_length=16,
            dimensions={"repetitions": repetitions},
        )
        samples = (
            Sample("peak_memory", 1e6 * repetitions, "evaluate"),
            *make.times([1.0], repetitions=repetitions),
        )
        database.record_outcome(make.outcome(run, case, samples))
    assert [row[:5] for row in matches(database, run.id)] == [
        ("300 additions", "seal", 8192, 16, 3e8),
        ("300 additions", "seal", 16384, 16, 3e8),
    ]


def test_failures_are_no_results_of_ours(database: Database, make) -> None:
    case = make.case(
        "seal", operation="mul", parameters=ParameterSpec("bfv", 4096, None, 65537), vector_length=4096
    )
    run = make.record(database, {"case": case, "samples": make.times([1.0]), "status": "incorrect"})
    assert matches(database, run.id) == []


def test_level_threads_and_security_are_those_that_the_source_states(database: Database, make) -> None:
    """An operation at the published level only, once for each number of threads, and only at the published security."""
    spec = ParameterSpec("ckks", 32768, None, None, 40)
    chain = make.parameters(spec, tuple(2**60 - 1 - 2 * number for number in range(12)))
    assert chain.security_2024 == 128
    common = {"operation": "sub", "parameters": spec, "vector_length": 16}

    def case(level: int | None, threads: int = 1, **dimensions: str):
        own = {} if level is None else {"level": level}
        return make.case("seal", **common, threads=threads, dimensions=own | dimensions)

    cases = [case(10), case(10, 2), case(9), case(None), case(10, residency="streamed")]
    run = make.record(
        database,
        *(
            {"case": each, "samples": make.times([float(number)]), "parameters": chain}
            for number, each in enumerate(cases, start=1)
        ),
    )
    query = (
        "select result, published_threads, published_security, median from published_match where run_id = %s "
        "order by published_threads"
    )
    assert database.query(query, [run.id]).rows == [
        ("Sub, N=2^15 L=10", 1, 128, 1.0),
        ("Sub, N=2^15 L=10", 2, 128, 2.0),
    ]


def test_published_security_is_that_of_the_chain(database: Database) -> None:
    """The chain of depth L: primes of 52 and 48 bits, and special primes of 60 bits that cover the larger of two
    decomposition digits.
    """
    found = database.query(
        "select distinct result, security from published where result ~ 'L=1[04]' and security is not null"
    ).rows
    assert len(found) > 40
    for result, security in found:
        power, depth = (int(text) for text in re.search(r"N=2\^(\d+) L=(\d+)", result).groups())
        levels = depth + 16 * result.startswith("Bootstrap")
        digit = 52 + 48 * (-(-(levels + 1) // 2) - 1)
        log_qp = 52 + 48 * levels + 60 * -(-digit // 60)
        assert security == level("2024", 1 << power, log_qp), (result, log_qp)
