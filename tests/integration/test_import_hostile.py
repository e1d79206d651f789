"""Archives that somebody else wrote: what cannot be recorded and shown is refused as a whole, before the first row."""

from __future__ import annotations

import json
import lzma
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command import REPOSITORY

from ciphermark_benchmark import archive
from ciphermark_benchmark.cli.runs import table_of
from ciphermark_core.errors import UserError
from ciphermark_db.database import Database

Path_ = tuple[str | int, ...]
LINES = [
    json.loads(line)
    for line in lzma.decompress((REPOSITORY / "reference" / "tenseal-ml.jsonl.xz").read_bytes()).splitlines()
]
QUICK = lzma.decompress((REPOSITORY / "reference" / "quick.jsonl.xz").read_bytes())
HEADER = LINES[0] | {"format": 1}  # which needs no digest
WHOLE = next(
    line
    for line in LINES[1:]
    if line["status"] == "ok" and line["programs"] and line["parameters"]["special_moduli"]
)
VALUES = (
    *(-1, 0, 1 << 31, 1 << 62, 1 << 63, (1 << 64) - 1, 1 << 64, -(1 << 63), 1e308, -1e308, 5e-324, 0.5),
    *(
        "",
        "\0",
        "\x1b[2J",
        "a\u202eb",
        "infinity",
        "10000-01-01",
        "0044-03-15 BC",
        "2026-02-30T00:00:00+00:00",
        "last",
    ),
    *(None, True, [], {}, ["a"], {"a": -1}, [[0]], [-1], [0]),
)


def places(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Every place in a document; of a list the first element alone."""
    if path:
        yield path
    items = (
        value.items()
        if isinstance(value, dict)
        else [*enumerate(value)][:1]
        if isinstance(value, list)
        else ()
    )
    for key, item in items:
        yield from places(item, (*path, key))


def with_value(document: Any, path: Path_, value: Any) -> Any:
    if not path:
        return value
    changed = document.copy()
    changed[path[0]] = with_value(document[path[0]], path[1:], value)
    return changed


def packed(path: Path, *lines: Any) -> Path:
    path.write_bytes(lzma.compress(b"".join(json.dumps(line).encode() + b"\n" for line in lines), preset=0))
    return path


def imported(database: Database, path: Path) -> int:
    header, outcomes = archive.read(path)
    return database.import_run(header.run, outcomes)


LAYER = {
    **{
        "name": "first",
        "level": 1,
        "end_level": 0,
        "scale_bits": 40.0,
        "operand_bytes": 8,
        "result_bytes": 8,
    },
    "counts": [{"operation": "mul", "level": 1, "n": 1}],
}
SMALL = WHOLE | {
    "samples": WHOLE["samples"][:40],
    "programs": [program | {"layers": [LAYER]} for program in WHOLE["programs"][:1]],
}


def disables_nothing(database: Database, path: Path, line: int, part: slice) -> None:
    """Import with every value of a part of all in every field; then the runs are listed, or nothing is recorded."""
    lines, accepted = [HEADER, SMALL], 0
    changes = [(place, value) for place in places(lines[line]) for value in VALUES]
    for place, value in changes[part]:
        changed = [*lines]
        changed[line] = with_value(lines[line], place, value)
        try:
            imported(database, packed(path, *changed))
        except UserError:
            assert database.query("select count(*) from run").rows == [(0,)], (place, value)
            continue
        accepted += 1
        table_of(database.report("runs", limit=20))
        database.query("select * from results")
        database.query("truncate run, series, sample cascade", read_only=False)
    assert accepted


@pytest.mark.parametrize("line", [0, 1])
def test_whatever_a_field_holds_disables_nothing(database: Database, tmp_path, line: int) -> None:
    disables_nothing(database, tmp_path / "run.xz", line, slice(0, None, 23))


@pytest.mark.extended
@pytest.mark.parametrize("line", [0, 1])
def test_all_of_it(database: Database, tmp_path, line: int) -> None:
    disables_nothing(database, tmp_path / "run.xz", line, slice(0, None))


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (("run", "started_at"), "10000-01-01", "such as `2026-01-31T12:00:00+00:00` - at `$.run.started_at`"),
        (("run", "label"), "last", "other than `last`, such as `before-update` - at `$.run.label`"),
        (("run", "suite_name"), "a\0", "without control characters, such as `quick` - at `$.run.suite_name`"),
    ],
)
def test_a_refusal_shows_the_expected_form_by_an_example(
    tmp_path: Path, path: Path_, value: str, expected: str
) -> None:
    with pytest.raises(UserError) as refusal:
        archive.read(packed(tmp_path / "run.xz", with_value(HEADER, path, value), SMALL))
    assert str(refusal.value).endswith(expected)
    assert "regex" not in str(refusal.value)


def test_a_refused_archive_leaves_nothing(ciphermark, tmp_path) -> None:
    """PostgreSQL alone knows that there is no such day."""
    day = with_value(SMALL, ("started_at",), "2026-02-30T00:00:00+00:00")
    path = packed(tmp_path / "run.xz", HEADER, SMALL, with_value(day, ("trial", "id"), "another"))
    assert "out of range" in ciphermark("runs", "import", str(path), code=2).err
    assert "No run is recorded yet" in ciphermark("runs").out
    assert not list(ciphermark.data_directory.rglob("*.xz"))


def test_trials_of_another_run_are_refused(ciphermark, tmp_path) -> None:
    thief = with_value(HEADER, ("run", "id"), "thief")
    stolen = packed(tmp_path / "stolen.xz", thief, with_value(SMALL, ("trial", "run_id"), "thief"))
    genuine = packed(tmp_path / "genuine.xz", HEADER, SMALL)
    assert "1 of 1 trials are new" in ciphermark("runs", "import", str(genuine)).out
    refused = ciphermark("runs", "import", str(stolen), code=2).err
    assert f"is recorded as one of run {HEADER['run']['id']}" in " ".join(refused.split())
    assert ciphermark.rows("select run_id from runs") == [{"run_id": HEADER["run"]["id"]}]


OTHERWISE = {
    "suite": {"suite_name": "another"},
    "seed": {"seed": HEADER["run"]["seed"] + 1},
    "start": {"started_at": "2030-01-01T00:00:00+00:00"},
    "version": {"software_version": "9.9"},
    "host": {"host": HEADER["run"]["host"] | {"hostname": "another"}},
    "state of the host": {"host": HEADER["run"]["host"] | {"load_1min": 99.0}},
}


def test_a_recorded_id_with_another_header_is_refused_and_named(new_url, tmp_path) -> None:
    """A label is its owner's: one that was given, changed or taken away since is no other run."""
    path, fresh = tmp_path / "run.xz", with_value(SMALL, ("trial", "id"), "another")
    with Database.open(new_url()) as database:
        imported(database, packed(path, HEADER, SMALL))
        recorded = database.query("select * from run").rows
        for what, changes in OTHERWISE.items():
            other = HEADER | {"run": HEADER["run"] | changes}
            with pytest.raises(UserError, match=f"is recorded already, with another {what}$"):
                imported(database, packed(path, other, fresh))
        changes = OTHERWISE["seed"] | OTHERWISE["host"]
        with pytest.raises(UserError, match=r"with another seed, host$"):
            imported(database, packed(path, HEADER | {"run": HEADER["run"] | changes}, fresh))
        assert database.query("select * from run").rows == recorded
        assert database.query("select count(*) from trial").rows == [(1,)]
        labeled = HEADER | {"run": HEADER["run"] | {"label": "theirs"}}
        assert imported(database, packed(path, labeled, SMALL, fresh)) == 1
        assert database.query("select * from run").rows == recorded


# What a sample and a fact of any trial may be at most, and at least.
EXTREMES = {
    "times of zero": ("time", 0.0, {}),
    "times that correction makes zero": ("time", 5e-324, {"slowdown": 1e10}),
    "precision below zero": ("precision", -1e5, {}),
    "errors without bound": ("max_error", sys.float_info.max, {}),
}


@pytest.mark.parametrize("name", EXTREMES)
def test_what_may_be_is_shown_however_extreme_it_is(ciphermark, tmp_path, name: str) -> None:
    """In every output that reads it: no division by zero, and no logarithm of what has none."""
    metric, value, changes = EXTREMES[name]
    line = next(
        line
        for line in (json.loads(text) for text in QUICK.splitlines()[1:-1])
        if line["status"] == "ok" and line["trial"]["case"]["experiment"] == "arithmetic"
    )
    sample = next(sample for sample in line["samples"] if sample["metric"] == "time")
    line["facts"] |= {"slowdown": -1.0, "timed_samples": -3.0}
    line["samples"] += [sample | {"metric": metric, "ordinal": ordinal} for ordinal in range(100, 112)]
    other = json.loads(json.dumps(line))
    for sample in line["samples"]:
        if sample["metric"] == metric:
            sample.update(changes, value=value)
    for number, trial in enumerate((line, other)):
        header = with_value(json.loads(QUICK.splitlines()[0]), ("run", "id"), f"extreme-{number}") | {
            "format": 1
        }
        trial["trial"] |= {"run_id": f"extreme-{number}", "id": f"trial-{number}"}
        ciphermark("runs", "import", str(packed(tmp_path / "run.xz", header, trial)))
    for command in ("results", "summary"):
        ciphermark(command, "extreme-0")
    ciphermark("results", "extreme-0", "--details")
    ciphermark("compare", "extreme-0", "extreme-1", code=None)
