"""Databases of users in runs: from a file to an answer, and refused with file and line where they are malformed."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from command import forget_all_but


def experiment(workloads, **options):
    return {
        "kind": "retrieval",
        "variants": ["seal"],
        "workloads": list(workloads),
        "schemes": ["bfv"],
        "options": options,
    }


def written(suite, file, data):
    (suite.parent / file).write_bytes(data)
    return f"{file.partition('.')[0]}@{hashlib.sha256(data).hexdigest()[:8]}.{file.partition('.')[2]}"


def test_files_are_measured_and_gone_on_with(ciphermark):
    """By index, in batches and by keyword; the run goes on when the files are gone."""
    elements = np.random.default_rng(1).integers(0, 256, 3000 * 37, dtype=np.uint8).tobytes()
    records = "".join(f"name {i},{'x' * (i % 9 + 1)}{i}\n" for i in range(300)).encode()
    suite = ciphermark.suite(
        experiment(["fast-pir", "batch-pir"], database=["elements.bin"], element_bytes=[37]),
        experiment(["keyword-pir"], database=["records.csv"]),
        memory_mb=2048,
    )
    names = {written(suite, "elements.bin", elements), written(suite, "records.csv", records)}
    explained = ciphermark("suite", "explain", str(suite)).out
    assert all(name in explained for name in names)
    assert not (ciphermark.data_directory / "files").exists()
    ciphermark("run", str(suite))
    before = ciphermark.outcomes()
    assert [(item["status"], item["error"]) for item in before] == [("ok", None)] * 3
    told = [item["trial"]["case"]["dimensions"] for item in before]
    assert {item["database"] for item in told} == names
    assert {(item.get("elements"), item.get("element_bytes"), item.get("records")) for item in told} == {
        (3000, 37, None),
        (None, None, 300),
    }
    journal = ciphermark.journals()[0]
    header, first, *_ = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(header + first)
    forget_all_but(ciphermark.database_url, [item["trial"]["id"] for item in ciphermark.outcomes()])
    for file in ("elements.bin", "records.csv"):
        (suite.parent / file).unlink()
    ciphermark("run", "--resume", ciphermark.run_id(), str(suite))
    after = ciphermark.outcomes()
    assert {item["trial"]["id"] for item in after} == {item["trial"]["id"] for item in before}
    assert {item["status"] for item in after} == {"ok"}


def test_a_store_that_a_party_has_no_room_for_is_out_of_memory_before_any_work(ciphermark):
    """Of 65,536 elements of 256 bytes: the file is 16 MiB, and what is made of it more than the least of memory."""
    suite = ciphermark.suite(
        experiment(["fast-pir"], database=["elements.bin"], element_bytes=[256]), memory_mb=64
    )
    written(suite, "elements.bin", bytes(1 << 24))
    told = " ".join(ciphermark("suite", "explain", str(suite)).out.split())
    assert "0 cases, 0 trials, 0 unsupported, 1 out_of_memory. Estimated time: " in told
    ciphermark("run", str(suite), code=None)
    (outcome,) = ciphermark.outcomes()
    assert (outcome["status"], outcome["samples"]) == ("out_of_memory", [])
    assert outcome["error"].startswith("the server needs about ")
    assert "the budget allows 64 MB per party (memory_mb)" in outcome["error"]
    (row,) = ciphermark.rows("select status from trials")
    assert row == {"status": "out_of_memory"}


@pytest.mark.parametrize(
    ("workload", "file", "data", "complaint"),
    [
        ("fast-pir", "own.bin", None, "own.bin: there is no such file"),
        ("fast-pir", "own.bin", b"", "own.bin: the file is empty"),
        ("fast-pir", "own.bin", bytes(100), "own.bin: 100 bytes are no multiple of 37"),
        ("keyword-pir", "own.csv", b"a,1\na,2\n", "own.csv, line 2: the keyword 'a' is there twice"),
    ],
)
def test_what_is_malformed_is_refused_before_any_work(ciphermark, workload, file, data, complaint):
    options = {"element_bytes": [37]} if workload == "fast-pir" else {}
    suite = ciphermark.suite(experiment([workload], database=[file], **options))
    if data is not None:
        (suite.parent / file).write_bytes(data)
    for command in (("suite", "explain"), ("run",)):
        err = " ".join(ciphermark(*command, str(suite), code=2).err.split())
        assert complaint in err
    assert not (ciphermark.data_directory / "files").exists()
    assert not ciphermark.journals()
