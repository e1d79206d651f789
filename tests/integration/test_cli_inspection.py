"""``--help``, ``adapters``, ``doctor`` and ``suite``: what is here, before anything is measured."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys

import jsonschema
import msgspec
import pytest
from command import PROGRAM, REPOSITORY, TINY, Ciphermark
from processes import PATIENCE_S
from ruamel.yaml import YAML
from typer.testing import CliRunner

from ciphermark_adapters import registry
from ciphermark_adapters.registry import Availability
from ciphermark_benchmark.cli._commands import app, loaded, names, summary
from ciphermark_benchmark.cli.adapters import Description, brief_build, table_of
from ciphermark_core.model import LibraryInfo
from ciphermark_present import terminal

SUITES = sorted((REPOSITORY / "suites").glob("*.yaml"))


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """These commands need no database: the one named here does not exist."""
    folder = tmp_path_factory.mktemp("bare")
    deeds = {"PLANTED_DEEDS": "good missing no-import elsewhere"}  # all are described, each by a process
    return Ciphermark(folder / "data", f"postgresql:///none?host={folder}", deeds)


def _paths(path, command):
    yield path
    for name, below in getattr(command, "commands", {}).items():
        yield from _paths((*path, name), below)


COMMANDS = [path for name in names() for path in _paths((name,), loaded(name))]


@pytest.mark.parametrize("name", names())
def test_a_command_is_listed_with_the_first_line_of_its_help(name):
    assert loaded(name).help.splitlines()[0] == summary(name)


def test_the_list_of_commands_loads_none_of_them():
    command = [sys.executable, "-X", "importtime", "-m", "ciphermark_benchmark.cli.main", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loads = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "typer" in loads
    assert not loads & {
        "pydantic",
        "fastapi",
        "numpy",
        "psycopg",
        "ciphermark_adapters",
        "ciphermark_workloads",
    }


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_the_help_of_every_command_has_an_example(path):
    result = CliRunner().invoke(app, [*path, "--help"])
    assert result.exit_code == 0
    assert "Example" in result.output
    assert "ciphermark " + " ".join(path) in " ".join(result.output.split("Example")[1].split())


def test_the_help_says_where_to_begin(bare):
    assert "ciphermark run quick" in bare("--help").out
    assert bare("--version").out.startswith("ciphermark 0.")


# Adapters


@pytest.fixture(scope="module")
def adapters(bare):
    return {item["variant"]: item for item in json.loads(bare("adapters", "--format", "json").out)}


def test_every_declared_variant_is_listed(adapters):
    assert set(registry.declarations()) <= set(adapters)
    assert {"seal", "seal-hexl", "tenseal", "pyfhel", "cleartext", "planted-good", "planted-missing"} <= set(
        adapters
    )


def test_an_installed_library_speaks_for_itself(adapters):
    native = pytest.importorskip("_ciphermark_seal")
    seal = adapters["seal"]
    assert seal["is_installed"] is True
    assert seal["reason"] is seal["remedy"] is None
    assert seal["library"]["version"] == native.seal_version
    assert seal["library"]["build"].items() >= native.build_facts.items()
    assert "-O3" in seal["library"]["build"]["flags"]
    assert "sha256:" in seal["library"]["build"]["binary"]
    assert seal["declaration"]["license"] == "MIT"
    assert "mul" in seal["declaration"]["operations"]["bfv"]


def test_a_missing_library_is_listed_with_reason_and_remedy(adapters):
    missing = adapters["planted-missing"]
    assert missing["is_installed"] is False
    assert missing["library"] is None
    assert missing["reason"] == "module a_module_that_nobody_has is not installed"
    assert missing["remedy"] == "pip install a-module-that-nobody-has"


def test_a_library_that_cannot_be_loaded_breaks_no_other(adapters):
    broken = adapters["planted-no-import"]
    assert broken["is_installed"] is False
    assert "libplanted.so.1: cannot open shared object file" in broken["reason"]
    assert broken["remedy"]
    assert adapters["planted-good"]["is_installed"] is True


def test_a_host_without_the_instructions_is_told(adapters):
    assert adapters["planted-elsewhere"]["reason"] == "this CPU lacks a_flag_that_no_cpu_has"
    assert adapters["planted-elsewhere"]["remedy"] == "use a host whose CPU has it"


@pytest.fixture(scope="module")
def shipped(bare):
    """The command without planted adapters."""
    return Ciphermark(bare.data_directory, bare.database_url, {"CIPHERMARK_ADAPTER_PATH": ""})


def test_the_adapters_are_a_table_of_80_columns(adapters):
    """tests/integration/test_docs_commands.py prints it."""
    found = [
        Description(
            Availability(registry.declaration(name), item["reason"], item["remedy"]),
            msgspec.convert(item["library"], LibraryInfo | None),
            item["reason"],
        )
        for name, item in adapters.items()
        if not name.startswith("planted-")
    ]
    head, *lines = terminal.lines(table_of(found), 80)
    assert head.split() == ["variant", "version", "schemes", "build", "missing"]
    assert max(map(len, lines)) <= 80
    for item in found:
        (row,) = [
            line.split() for line in lines if line.startswith(f"{item.availability.declaration.variant} ")
        ]
        assert row[1] == (item.library.version.split()[0] if item.library else "–")


def test_what_is_missing_is_told_with_reason_and_remedy():
    missing = Availability(
        registry.declaration("helib"), "module x is not installed", "install it, then try again"
    )
    there = Availability(registry.declaration("seal"))
    told = {"compiler": "c++ (Debian 12.2.0-14+deb12u1) 12.2.0", "flags": "-w -O1 -DNDEBUG -O3 -fPIC"}
    found = [
        Description(missing, None, missing.reason),
        Description(there, LibraryInfo("SEAL", "seal", "4.1.2", False, told), None),
    ]
    text = "\n".join(terminal.lines(table_of(found), 80))
    assert "module x is not installed: install it, then try again" in " ".join(
        text.replace("helib", "").split()
    )
    assert "4.1.2" in text
    assert "c++ 12.2.0 -O3" in text


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({}, ""),
        ({"compiler": "GCC 12.2.0", "flags": " -O3 -DNDEBUG"}, "GCC 12.2.0 -O3"),
        ({"compiler": "clang version 14", "flags": "-Ofast"}, "clang version 14 -Ofast"),
        ({"compiler": "not known: x.so has no debug information", "flags": "not known: x"}, "not known"),
        ({"compiler": "GCC 12", "flags": "not known: x-Omega"}, "GCC 12"),
    ],
)
def test_a_build_is_told_by_compiler_and_optimization(facts, told):
    assert brief_build(facts) == told


def test_a_variant_is_told_with_all_that_is_known_of_it(shipped, adapters):
    lines = shipped("adapters", "tenseal").out.splitlines()
    assert lines[0].startswith(("tenseal  installed", "tenseal  missing"))
    assert sum(not line.startswith(" ") for line in lines) == 1
    assert any(line.strip().startswith("unsupported") and "rotate" in line for line in lines)
    declared = adapters["tenseal"]["declaration"]
    assert max(map(len, lines)) <= 80
    told = " ".join(" ".join(lines).split())
    assert f" bfv {' '.join(declared['operations']['bfv'])} " in told
    (only,) = json.loads(shipped("adapters", "tenseal", "--format", "json").out)
    assert only == adapters["tenseal"]


def test_the_details_of_what_is_missing_or_unknown(bare):
    out = bare("adapters", "planted-missing").out
    assert out.startswith("planted-missing  missing")
    assert "a_module_that_nobody_has" in out
    assert "pip install a-module-that-nobody-has" in out
    assert "unknown variant 'sael'" in bare("adapters", "sael", code=2).err


# Host


def test_the_doctor_tells_facts_and_warnings(bare):
    crowded = bare.suite(TINY | {"variants": ["openfhe"], "threads": [1, 4096]}, name="crowded")
    lines = bare("doctor", str(crowded)).out.splitlines()
    expected = (
        "host",
        "CPU",
        "ISA",
        "caches",
        "memory",
        "system",
        "governor",
        "turbo",
        "SMT",
        "clock",
        "clock noise",
    )
    for name in (*expected, "load"):
        assert any(line.startswith(name) for line in lines), name
    warnings = [line.partition(" threads")[0] for line in lines if "threads on" in line]
    assert warnings == ["! 4096"]  # not of the one thread
    assert "no-suite.yaml" in bare("doctor", "no-suite.yaml", code=2).err


# Suites


def test_the_shipped_suites_are_listed_with_what_they_are_for(bare):
    out = bare("suite", "list").out
    for path in SUITES:
        assert f"\n{path.stem} " in out
    assert "Every experiment and scheme" in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_new_suite_is_written_as_answered_and_never_over_another(bare, tmp_path):
    path = tmp_path / "mine.yaml"
    answers = ("--vector-length", "10000", "--exact", "--largest", "1000", "--depth", "3")
    out = bare("suite", "new", str(path), *answers).out
    assert f"ciphermark run {path}" in out
    explained = json.loads(bare("suite", "explain", str(path), "--format", "json").out)
    assert {case["depth"] for case in explained["cases"]} == {3}
    assert "already exists" in bare("suite", "new", str(path), *answers, code=2).err


def test_no_case_of_a_new_suite_sends_more_than_asked(bare, tmp_path):
    """bfv takes 0.52 MB here, bgv 0.79: the limit is between them."""
    path = tmp_path / "mine.yaml"
    answers = ("--vector-length", "10000", "--exact", "--largest", "3", "--depth", "2", "--upload-mb", "0.6")
    out = bare("suite", "new", str(path), *answers).out
    (left_out,) = [line for line in out.splitlines() if line.startswith("Left out by --upload-mb: ")]
    assert "seal bgv 0.787 MB" in left_out
    assert "bfv" not in left_out
    cases = json.loads(bare("suite", "explain", str(path), "--format", "json").out)["cases"]
    uploads_mb = [
        -(-case["vector_length"] // n) * 2 * 8 * n * (len(case["resolved"]["modulus_bits"]) - 1) / 1e6
        for case in cases
        for n in [case["resolved"]["ring_dimension"]]
    ]
    assert cases
    assert max(uploads_mb) <= 0.6


def test_what_a_new_suite_lacks_is_asked_for_where_somebody_can_answer(bare, tmp_path):
    error = bare("suite", "new", str(tmp_path / "mine.yaml"), "--vector-length", "10", code=2).err
    assert error == "no terminal to ask: add --largest, --depth, --exact or --approximate\n"
    assert not (tmp_path / "mine.yaml").exists()


def test_a_suite_of_which_nothing_can_be_executed_is_not_written(bare, tmp_path):
    answers = (
        "--vector-length",
        "10",
        "--approximate",
        "--largest",
        "1",
        "--depth",
        "40",
        "--security-table",
        "2018",
    )
    error = bare("suite", "new", str(tmp_path / "mine.yaml"), *answers, code=2).err
    # HElib's special primes leave room for two more.
    assert error.endswith(("; possible: --depth 19\n", "; possible: --depth 21\n"))
    assert not (tmp_path / "mine.yaml").exists()


def test_a_new_suite_is_asked_for_at_a_terminal(tmp_path):
    """Five questions, answered one after another."""
    master, slave = pty.openpty()
    path = tmp_path / "asked.yaml"
    process = subprocess.Popen([PROGRAM, "suite", "new", str(path)], stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    os.write(master, b"100\n10\n2\ny\nn\n")
    said = b""
    try:
        while chunk := os.read(master, 4096):
            said += chunk
    except OSError:  # the other end is closed: the command has ended
        pass
    assert process.wait(PATIENCE_S) == 0, said
    assert b"How many values do you compute on?" in said
    assert "# 100 integers below 10, 2 consecutive multiplications, 128-bit" in path.read_text()


def test_an_explanation_for_people(bare):
    suite = bare.suite(
        TINY | {"variants": ["cleartext", "planted-missing"], "operations": ["add", "mul"]}, processes=3
    )
    out = bare("suite", "explain", str(suite)).out
    assert "2 cases, 6 trials, 2 unsupported. Estimated time: " in " ".join(out.split())
    assert "a_module_that_nobody_has" in "".join(out.split())
    assert bare.journals() == []


def test_a_large_suite_is_explained_in_a_screenful(bare):
    out = bare("suite", "explain", "pir-report").out
    assert len(out.splitlines()) < 60
    assert max(map(len, out.splitlines())) <= 80
    told = json.loads(bare("suite", "explain", "pir-report", "--format", "json").out)["cases"]
    for variant in ("seal", "openfhe"):
        own = [case["skipped"] for case in told if case["variant"] == variant]
        reasons = [reason for reason in own if reason]
        for reason in set(reasons):
            assert f"{reasons.count(reason)} {variant} {reason.split()[0]}" in " ".join(out.split())
    assert "List every case: --all" in out
    few = json.loads(bare("suite", "explain", "smoke", "--format", "json").out)["cases"]
    assert bare("suite", "explain", "smoke", "--all").out.count("\n") > len(few)


def test_the_schema_holds_for_every_shipped_suite_and_not_for_others(bare):
    schema = json.loads(bare("suite", "schema").out)
    validator = jsonschema.validators.validator_for(schema)(schema)
    for path in SUITES:
        validator.validate(YAML(typ="safe").load(path))
    good = YAML(typ="safe").load(SUITES[0])
    for spoil in (
        lambda suite: suite.pop("name"),
        lambda suite: suite.update(nmae="x"),
        lambda suite: suite.update(experiments=[]),
        lambda suite: suite["experiments"][0].update(kind="speed"),
        lambda suite: suite["experiments"][0].update(schemes="bfv"),
        lambda suite: suite["experiments"][0].update(vector_length=[0]),
        lambda suite: suite["budget"].update(samples="many"),
    ):
        spoiled = json.loads(json.dumps(good))
        spoil(spoiled)
        with pytest.raises(jsonschema.ValidationError):
            validator.validate(spoiled)


# Progress


def test_terminals_have_progress(tmp_path, new_url):
    """Elsewhere there is none: tests/integration/test_cli_figures.py."""
    ciphermark = Ciphermark(tmp_path / "data", new_url(), {"TERM": "xterm"})
    suite = ciphermark.suite(TINY | {"variants": ["cleartext"], "operations": ["add", "mul", "sub"]})
    assert "measuring" in _errors_on_a_terminal(ciphermark, "run", str(suite))


def _errors_on_a_terminal(ciphermark, *arguments):
    reader, terminal = pty.openpty()
    pid = os.posix_spawn(
        PROGRAM,
        [str(PROGRAM), *arguments],
        ciphermark.environment(),
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_DUP2, terminal, 2),
        ],
    )
    os.close(terminal)
    text = b""
    while True:
        try:
            chunk = os.read(reader, 4096)
        except OSError:  # how Linux tells that the other side is gone
            break
        text += chunk
    os.close(reader)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    return text.decode()
