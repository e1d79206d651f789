from __future__ import annotations

import lzma
import re
import shutil
import tracemalloc
from dataclasses import replace
from hashlib import sha256

import any_model as strategies
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_benchmark_journal import HEADER, outcome

from ciphermark_benchmark import archive
from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.runner.journal import Header, Journal
from ciphermark_contract.checking import UNBOUNDED
from ciphermark_core import wire
from ciphermark_core.errors import UserError
from ciphermark_core.model import ProgramUse, Sample

anywhere = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture
def data_directory(tmp_path):
    return DataDirectory(tmp_path / "data", None)


def written(data_directory, tmp_path, outcomes, label=None):
    (data_directory.pending / "run-1.jsonl").unlink(missing_ok=True)
    journal = Journal.create(data_directory, Header(HEADER.run, "/somewhere/private/mine.yaml", ("seal",)))
    for item in outcomes:
        journal.append(item)
    path = tmp_path / "run.jsonl.xz"
    archive.write(*archive.held(data_directory, "run-1"), label, path)
    return path


def packed(path, *values):
    path.write_bytes(lzma.compress(b"".join(wire.to_line(value) for value in values)))
    return path


@given(st.lists(strategies.outcomes, max_size=3, unique_by=lambda item: item.trial.id))
@anywhere
def test_what_is_written_is_read_and_once_imported_exported_unchanged(data_directory, tmp_path, outcomes):
    of_run = [replace(item, trial=replace(item.trial, run_id="run-1")) for item in outcomes]
    path = written(data_directory, tmp_path, of_run, label="mine")
    header, found = archive.read(path)
    assert found == of_run
    assert header.run == replace(HEADER.run, label="mine")
    elsewhere = DataDirectory(tmp_path / "elsewhere", None)
    shutil.rmtree(elsewhere.folder, ignore_errors=True)
    archive.keep(elsewhere, path, header, found)
    again = tmp_path / "again.jsonl.xz"
    archive.write(*archive.held(elsewhere, "run-1"), "mine", again)
    assert again.read_bytes() == path.read_bytes()


def test_no_path_of_the_place_goes_along(data_directory, tmp_path):
    path = written(data_directory, tmp_path, [outcome(0)])
    assert b"private" not in lzma.decompress(path.read_bytes())
    assert archive.read(path)[0].origin == "mine.yaml"


def test_a_trial_that_was_executed_again_has_its_last_outcome(data_directory, tmp_path):
    again = replace(outcome(0), status="incorrect")
    _, found = archive.read(written(data_directory, tmp_path, [outcome(0), outcome(1), again]))
    assert found == [again, outcome(1)]


def test_a_run_of_another_data_directory_is_told(data_directory):
    with pytest.raises(
        UserError, match=r"has no samples of run run-9: export it where it was measured or imported"
    ):
        archive.held(data_directory, "run-9")


def test_a_run_of_a_job_is_found(data_directory, tmp_path):
    Journal.create(data_directory.of_jobs, HEADER).retire(data_directory.of_jobs)
    assert archive.held(data_directory, "run-1") == (HEADER, [])


def test_of_two_archives_of_a_run_all_is_kept_and_what_came_first_stays(data_directory, tmp_path):
    first = packed(tmp_path / "first.xz", HEADER, outcome(0), outcome(1))
    later = packed(tmp_path / "later.xz", HEADER, replace(outcome(1), status="incorrect"), outcome(2))
    for path in (first, later, first):
        archive.keep(data_directory, path, *archive.read(path))
    header, outcomes = archive.held(data_directory, "run-1")
    assert (header.run, outcomes) == (HEADER.run, [outcome(0), outcome(1), outcome(2)])


def test_what_was_measured_here_is_exported_from_its_journal(data_directory, tmp_path):
    path = written(data_directory, tmp_path, [outcome(0)])
    other = packed(tmp_path / "other.xz", HEADER, outcome(1))
    archive.keep(data_directory, other, *archive.read(other))
    assert archive.held(data_directory, "run-1")[1] == [outcome(0)]
    assert not data_directory.imported.exists()
    assert archive.read(path)[1] == [outcome(0)]


def test_a_data_directory_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "data").write_text("a file")
    path = packed(tmp_path / "run.xz", HEADER, outcome(0))
    with pytest.raises(UserError, match="cannot create the folder: Not a directory"):
        archive.keep(DataDirectory(tmp_path / "data", None), path, *archive.read(path))


@pytest.mark.parametrize("run_id", ["../run-1", "", "a/b", "run\0", "run\n", "last"])
def test_a_run_whose_id_or_label_is_no_name_is_refused(tmp_path, run_id):
    for field in ("id", "label"):
        path = packed(tmp_path / "run.xz", replace(HEADER, run=replace(HEADER.run, **{field: run_id})))
        with pytest.raises(UserError, match=rf"not an archive .* at `\$\.run\.{field}`"):
            archive.read(path)


@pytest.mark.parametrize(
    "moment", ["10000-01-01", "infinity", "0044-03-15 BC", "1999-12-31T23:59:59Z", "2200-01-01T00:00:00Z"]
)
def test_a_time_outside_of_this_time_is_refused(tmp_path, moment):
    with pytest.raises(UserError, match=r"at `\$\.run\.started_at`"):
        archive.read(packed(tmp_path / "a.xz", replace(HEADER, run=replace(HEADER.run, started_at=moment))))
    with pytest.raises(UserError, match=r"at `\$\.started_at`"):
        archive.read(packed(tmp_path / "b.xz", HEADER, replace(outcome(0), started_at=moment)))


def test_content_that_was_changed_does_not_match_its_digest(data_directory, tmp_path):
    path = written(data_directory, tmp_path, [outcome(0)])
    content = lzma.decompress(path.read_bytes())
    for changed in (content.replace(b"trial-0", b"trial-9"), content + content.splitlines(keepends=True)[1]):
        path.write_bytes(lzma.compress(changed))
        with pytest.raises(UserError, match="its digest does not match its content"):
            archive.read(path)


def test_one_without_its_digest_is_refused_unless_it_is_of_an_earlier_format(data_directory, tmp_path):
    path = written(data_directory, tmp_path, [outcome(0), outcome(1)])
    lines = lzma.decompress(path.read_bytes()).splitlines(keepends=True)
    for count in range(1, len(lines)):
        path.write_bytes(lzma.compress(b"".join(lines[:count])))
        with pytest.raises(UserError, match="its digest is missing"):
            archive.read(path)
    first = wire.from_line(lines[0], Header)
    assert archive.read(packed(path, replace(first, format=1), outcome(0)))[1] == [outcome(0)]


def with_sample(metric, value):
    return replace(outcome(0), samples=(Sample(metric, value, "evaluate"),))


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("time", 1e308),
        ("time", -1e-9),
        ("size", 1e19),
        ("depth", 3e9),
        ("noise_budget", -1e308),
        ("accuracy", 1.5),
        ("is_at_max_repetitions", 2.0),
        ("images", 1e30),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_its_trial(tmp_path, metric, value):
    path = packed(tmp_path / "run.xz", HEADER, with_sample(metric, value))
    expected = rf"trial {outcome(0).trial.id}: evaluate: {metric} is {re.escape(f'{value:g}')} .*must be from"
    with pytest.raises(UserError, match=expected):
        archive.read(path)


@pytest.mark.parametrize("value", ["1e999", "-1e400", "Infinity", "NaN", "null"])
def test_a_value_that_is_no_number_is_refused(tmp_path, value):
    content = wire.to_line(HEADER) + wire.to_line(with_sample("time", 0.5)).replace(
        b'"value":0.5', f'"value":{value}'.encode()
    )
    (path := tmp_path / "run.xz").write_bytes(lzma.compress(content))
    with pytest.raises(UserError, match="is not an archive"):
        archive.read(path)


def test_what_the_largest_error_and_other_metrics_may_be_is_read(tmp_path):
    """An error without bound is written as the largest number; a metric of another version has bounds of its own."""
    items = [
        with_sample("max_error", UNBOUNDED),
        with_sample("precision", -1024.0),
        with_sample("new", -1e308),
    ]
    items = [replace(item, trial=outcome(number).trial) for number, item in enumerate(items)]
    assert archive.read(packed(tmp_path / "run.xz", HEADER, *items))[1] == items


@pytest.mark.parametrize("dimension", [{"repetitions": "many"}, {"repetitions": 1 << 31}, {"data_set": 1}])
def test_a_dimension_of_another_kind_is_refused(tmp_path, dimension):
    trial = outcome(0).trial
    item = replace(outcome(0), trial=replace(trial, case=replace(trial.case, dimensions=dimension)))
    with pytest.raises(UserError, match=f"trial {trial.id}: {next(iter(dimension))} is"):
        archive.read(packed(tmp_path / "run.xz", HEADER, item))


def test_a_program_under_the_name_of_another_is_refused(tmp_path):
    use = ProgramUse("infer", sha256(b"another").hexdigest(), "bfv", 1, 0, 1, (), b"this")
    with pytest.raises(UserError, match="has another digest"):
        archive.read(packed(tmp_path / "run.xz", HEADER, replace(outcome(0), programs=(use,))))


def test_lines_without_end_take_no_memory(tmp_path):
    path = tmp_path / "run.xz"
    path.write_bytes(lzma.compress(wire.to_line(HEADER) + b"\n" * (1 << 24), preset=0))
    tracemalloc.start()
    try:
        with pytest.raises(UserError, match="is not an archive"):
            archive.read(path)
        assert tracemalloc.get_traced_memory()[1] < 1 << 22
    finally:
        tracemalloc.stop()


def test_a_place_that_cannot_be_written_is_told_and_nothing_is_left(data_directory, tmp_path):
    Journal.create(data_directory, HEADER)
    with pytest.raises(UserError, match="cannot write the archive: Is a directory"):
        archive.write(*archive.held(data_directory, "run-1"), None, tmp_path / "data")
    with pytest.raises(UserError, match="cannot write the archive: No such file or directory"):
        archive.write(*archive.held(data_directory, "run-1"), None, tmp_path / "no" / "run.xz")


@pytest.mark.parametrize("size", [0, 1, 20, 100])
def test_one_that_is_cut_short_is_refused(data_directory, tmp_path, size):
    path = written(data_directory, tmp_path, [outcome(0)])
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(UserError, match="is not an archive"):
        archive.read(path)


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "other"
    for content in (b"name: quick\n", lzma.compress(b"name: quick\n"), lzma.compress(b"\xff\n"), bytes(1000)):
        path.write_bytes(content)
        with pytest.raises(UserError, match="is not an archive"):
            archive.read(path)
    with pytest.raises(UserError, match="cannot read: No such file or directory"):
        archive.read(tmp_path / "none")
    with pytest.raises(UserError, match="cannot read: Is a directory"):
        archive.read(tmp_path)


def test_an_outcome_of_another_run_is_refused(tmp_path):
    stranger = replace(outcome(1), trial=replace(outcome(1).trial, run_id="run-2"))
    with pytest.raises(UserError, match="outcomes of another run, run-2"):
        archive.read(packed(tmp_path / "run.xz", HEADER, outcome(0), stranger))


def test_one_that_unpacks_to_more_than_any_run_is_refused_early(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "_LARGEST_BYTES", 1 << 21)
    path = tmp_path / "bomb"
    path.write_bytes(lzma.compress(bytes(1 << 24)))
    with pytest.raises(UserError, match="unpacks to more than 2 MB"):
        archive.read(path)
