"""The user's mistakes: exit code 2 and a message that says what, where and what to do, never a traceback."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
from command import PROGRAM, TINY, Ciphermark

from ciphermark_benchmark.suite.capacity import MEMORY_WORKERS_PER_CORE, PER_CORE


@pytest.fixture(scope="module")
def ciphermark(tmp_path_factory, new_url):
    """A data directory and a database in which one run is recorded."""
    made = Ciphermark(tmp_path_factory.mktemp("mistakes") / "data", new_url())
    made("run", str(made.suite(TINY | {"variants": ["cleartext"], "operations": ["add"]}, name="good")))
    folder = made.data_directory.parent
    (folder / "deep.yaml").write_text("[" * 600)
    made.suite(
        TINY | {"variants": ["cleartext"], "vector_length": [*range(1, 601)], "threads": [*range(1, 201)]},
        name="large",
    )
    (folder / "typo.yaml").write_text("name: a\nexperimants: []\n")
    (folder / "list.yaml").write_text("- a\n")
    (folder / "latin1.yaml").write_bytes(b"name: gr\xf6\xdfe\n")
    (folder / "utf16.yaml").write_bytes("name: a\nexperiments: []\n".encode("utf-16"))
    (folder / "file").write_text("")
    return made


# Arguments ({0}: the folder) -> what the message must say.
MISTAKES = {
    "run nothing": (["run"], ["missing suite", "ciphermark suite list", "--resume"]),
    "run a missing file": (
        ["run", "{0}/goood.yaml"],
        ["goood.yaml: cannot read the suite: No such file", "did you mean '{0}/good.yaml'?"],
    ),
    "run what is nested too deep": (["run", "{0}/deep.yaml"], ["no suite is nested that deep"]),
    "explain what is too large": (
        ["suite", "explain", "{0}/large.yaml"],
        ["the suite has 480000 trials; the maximum is 20000: split it"],
    ),
    "sql without an answer": (["sql", "commit"], ["has no answer", "write a query"]),
    "run a folder": (["run", "{0}"], ["Is a directory"]),
    "run a suite with a typo": (
        ["run", "{0}/typo.yaml"],
        [
            "typo.yaml:2: unknown key 'experimants'; did you mean 'experiments'?",
            "lacks the key 'experiments'",
        ],
    ),
    "run a list": (["run", "{0}/list.yaml"], ["list.yaml:1: a suite is a mapping"]),
    "run UTF-16": (["run", "{0}/utf16.yaml"], ["utf16.yaml: the suite is not UTF-8 text"]),
    "run another encoding": (["run", "{0}/latin1.yaml"], ["latin1.yaml: the suite is not UTF-8 text"]),
    "run a missing variant": (
        ["run", "{0}/good.yaml", "--variant", "seal"],
        ["the suite has no variant 'seal'; variants: cleartext"],
    ),
    "run with a wrong option": (["run", "--varaint", "seal"], ["No such option", "--variant"]),
    "resume a missing run": (
        ["run", "--resume", "nothing"],
        ["no journal of run nothing", "unfinished runs: none"],
    ),
    "results of a missing run": (["results", "zzz"], ["no run matches 'zzz'; the latest is"]),
    "results in a wrong form": (["results", "last", "--format", "excel"], ["'excel'", "csv"]),
    "results to nowhere": (
        ["results", "last", "--format", "csv", "--output", "{0}/nowhere/a.csv"],
        ["{0}/nowhere/a.csv: cannot write: No such file or directory"],
    ),
    "compare with a missing run": (["compare", "last", "zzz"], ["no run matches 'zzz'"]),
    "no sql": (["sql", "selekt 1"], ['PostgreSQL: syntax error at or near "selekt"']),
    "sql that goes on": (["sql", "select 1; select 2"], ["PostgreSQL: "]),
    "two columns of one name": (
        ["sql", "select 1 as a, 2 as a", "--format", "json"],
        ["2 columns are named 'a': rename them"],
    ),
    "explain a missing file": (["suite", "explain", "{0}/goood.yaml"], ["did you mean '{0}/good.yaml'?"]),
    "explain a suite with a typo": (["suite", "explain", "{0}/typo.yaml"], ["did you mean 'experiments'?"]),
    "a command that is none": (["resluts", "last"], ["No such command 'resluts'", "results"]),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told(ciphermark, name):
    arguments, words = MISTAKES[name]
    folder = str(ciphermark.data_directory.parent)
    done = ciphermark(*[argument.format(folder) for argument in arguments], code=2)
    told = " ".join(done.err.split())  # usage errors come in a box of many lines
    for word in words:
        assert word.format(folder) in told
    assert done.out == ""
    assert len(ciphermark.journals()) == 1  # no mistake begins a run


def test_a_data_directory_that_cannot_be_is_told(ciphermark):
    lost = Ciphermark(ciphermark.data_directory.parent / "file" / "data", ciphermark.database_url)
    done = lost("run", str(ciphermark.data_directory.parent / "good.yaml"), code=2)
    assert "cannot store data: Not a directory" in done.err
    assert "CIPHERMARK_DATA" in done.err


@pytest.mark.parametrize(
    "arguments",
    [["sql", "select 1"], ["results", "last"], ["runs"], ["db", "url"], ["worker"], ["serve"]],
    ids=" ".join,
)
def test_a_data_directory_that_cannot_be_is_told_in_a_line_by_every_command(ciphermark, arguments):
    """Without a server of the user's own: the data would be in there."""
    token = {"CIPHERMARK_BENCHMARK_TOKEN": "a-token-that-is-long-enough"}
    done = Ciphermark(ciphermark.data_directory.parent / "file" / "data", None, token)(*arguments, code=1)
    (line,) = done.err.splitlines()
    assert "cannot store data: Not a directory" in line
    assert "CIPHERMARK_DATA" in line
    assert done.out == ""


def test_more_than_the_host_holds_side_by_side_is_refused_with_the_figure(ciphermark):
    cores = len(os.sched_getaffinity(0))
    labels = [f"cleartext@l{number}" for number in range(PER_CORE * cores + 1)]
    suite = str(ciphermark.suite(TINY | {"variants": labels, "operations": ["add"]}, name="many"))
    needed = len(labels) + MEMORY_WORKERS_PER_CORE * cores
    figure = f"{len(labels)} variants side by side need {needed} processes"
    assert figure in ciphermark("run", suite, code=2).err
    assert len(ciphermark.journals()) == 1
    assert figure in json.loads(ciphermark("suite", "explain", suite, "--format", "json").out)["refused"]
    assert f"A run would be refused: {figure}" in ciphermark("suite", "explain", suite).out
    # Experiments with the same parameters share their workers, so half of them in each of two is as many.
    halves = [TINY | {"variants": own, "operations": ["add"]} for own in (labels[::2], labels[1::2])]
    assert figure in ciphermark("run", str(ciphermark.suite(*halves, name="halves")), code=2).err
    assert len(ciphermark.journals()) == 1


def test_without_any_run_there_is_a_way_to_begin(tmp_path, empty_url):
    empty = Ciphermark(tmp_path / "data", empty_url())
    for arguments in (["results", "last"], ["compare", "last", "last"]):
        assert "start one: `ciphermark run quick`" in empty(*arguments, code=2).err


def test_a_suite_file_may_have_any_name(ciphermark):
    """Even one that is no text: what is kept of it in the journal and the database must be."""
    path = os.fsencode(ciphermark.data_directory.parent) + b"/odd \xff name.yaml"
    with open(path, "wb") as file:
        file.write((ciphermark.data_directory.parent / "good.yaml").read_bytes())
    data_directory = ciphermark.data_directory.parent / "odd-data_directory"
    done = subprocess.run(
        [os.fsencode(PROGRAM), b"run", path],
        env=Ciphermark(data_directory, ciphermark.database_url).environment(),
        capture_output=True,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    assert done.returncode == 0
