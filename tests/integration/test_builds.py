"""Builds of the user's own: added, compared, interrupted, removed, with real libraries and real kills."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import installed
import psutil
import pytest
from command import REPOSITORY, TINY, Ciphermark
from processes import PATIENCE_OF_RUNS_S, PATIENCE_S, wait_until

from ciphermark_adapters import interpreters
from ciphermark_present.query import AS_MEASURED

SEAL = REPOSITORY / ".build" / "seal"
needs_seal = pytest.mark.skipif(not SEAL.is_dir(), reason="setup has built no SEAL here")
needs_openfhe = pytest.mark.skipif(
    not installed.availability("openfhe").is_installed, reason="OpenFHE is not installed here"
)


@pytest.fixture
def mine(tmp_path: Path, new_url) -> Ciphermark:
    """Commands with builds of their own."""
    extra = {"CIPHERMARK_BUILDS": str(tmp_path / "builds"), "CIPHERMARK_ADAPTER_PATH": ""}
    return Ciphermark(tmp_path / "data", new_url(), extra)


def left(ciphermark: Ciphermark) -> list[str]:
    """What lies where builds are kept, but for the lock."""
    folder = Path(ciphermark.extra["CIPHERMARK_BUILDS"])
    return sorted(path.name for path in folder.iterdir() if path.name != ".lock") if folder.exists() else []


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A SEAL installed elsewhere, of which nobody recorded how it was made."""
    prefix = shutil.copytree(SEAL, tmp_path / "elsewhere")
    (prefix / "ciphermark-library.json").unlink(missing_ok=True)
    return prefix


@pytest.mark.extended
@needs_seal
def test_an_installed_seal_takes_turns_with_ours(mine: Ciphermark, elsewhere: Path) -> None:
    out = mine(
        "build",
        "add",
        "seal-mine",
        "--library",
        "seal",
        "--prefix",
        str(elsewhere),
        timeout_s=PATIENCE_OF_RUNS_S,
    ).out
    assert "flags: not known: libseal-4.1.a has no debug information" in out
    assert "compiler: GCC" in out
    assert "variants: [seal, seal-mine]" in out
    assert left(mine) == ["seal-mine"]
    shutil.rmtree(elsewhere)  # a static library is in the module
    described = {item["variant"]: item for item in json.loads(mine("adapters", "--format", "json").out)}
    assert described["seal-mine"]["library"]["build"]["flags"].startswith("not known")
    assert described["seal"]["library"]["build"]["flags"].startswith("-w -O3")
    experiment = {"kind": "arithmetic", "schemes": ["bfv"], "ring_dimension": [4096], "operations": ["add"]}
    suite = mine.suite(experiment | {"variants": ["seal", "seal-mine"]}, min_samples=8)
    mine("run", str(suite))
    statuses = mine.rows("select variant, status from trials")
    assert {row["variant"]: row["status"] for row in statuses} == {"seal": "ok", "seal-mine": "ok"}
    builds = mine.rows(
        "select distinct i.variant, b.facts from build as b join case_info as i on i.build_id = b.id order by 1"
    )
    assert [row["variant"] for row in builds] == ["seal", "seal-mine"]
    facts = [
        row["facts"] if isinstance(row["facts"], dict) else json.loads(str(row["facts"])) for row in builds
    ]
    assert facts[0]["flags"] != facts[1]["flags"]
    assert (
        "the variant seal-mine already exists"
        in mine("build", "add", "seal-mine", "--library", "seal", "--prefix", "x", code=2).err
    )
    folder = Path(mine.extra["CIPHERMARK_BUILDS"]) / "seal-mine"
    stale = json.loads((folder / "build.json").read_text()) | {"adapter": "of other sources"}
    (folder / "build.json").write_text(json.dumps(stale))
    missing = mine("run", str(suite)).out
    assert "ciphermark build refresh seal-mine" in missing
    complaint = mine("build", "refresh", code=2).err  # its prefix is gone
    assert f"there is no SEAL in {elsewhere}" in complaint
    assert left(mine) == ["seal-mine"]
    mine("build", "remove", "seal-mine")
    assert left(mine) == []
    assert mine.rows("select count(*)::int as n from run")[0]["n"] == 2


@pytest.mark.extended
@needs_openfhe
def test_an_environment_of_ones_own(mine: Ciphermark) -> None:
    environment = interpreters.folder("openfhe")
    before = {path: path.stat().st_mtime_ns for path in environment.glob("lib/python3*/site-packages/*")}
    out = mine(
        "build",
        "add",
        "mine",
        "--library",
        "openfhe",
        "--environment",
        str(environment),
        timeout_s=PATIENCE_OF_RUNS_S,
    ).out
    assert "flags: not known: libOPENFHEcore" in out
    after = {path: path.stat().st_mtime_ns for path in environment.glob("lib/python3*/site-packages/*")}
    assert after == before, "something was written into the user's environment"
    assert "usable" in mine("build", "list").out
    chain = {"schemes": ["bfv"], "ring_dimension": [2048], "modulus_bits": [40, 60], "security": "none"}
    experiment = {"kind": "arithmetic", "variants": ["openfhe", "mine"], "operations": ["add"], **chain}
    suite = mine.suite(experiment, min_samples=6)
    mine("run", str(suite))
    statuses = mine.rows("select variant, status from trials")
    assert {row["variant"]: row["status"] for row in statuses} == {"openfhe": "ok", "mine": "ok"}
    found = mine("bisect", str(suite), "openfhe", "mine", "--error", "0.2", timeout_s=PATIENCE_OF_RUNS_S)
    assert "Runs: " in found.out
    assert "step" in found.out.lower()
    assert mine.rows("select count(*)::int as n from run where suite = 'bisect-planted'")[0]["n"] > 0


@pytest.mark.extended
@needs_seal
def test_a_slower_build_is_a_regression_of_the_suite(mine: Ciphermark) -> None:
    """Encryption in the clear takes a hundredth of the time."""
    experiment = {"kind": "arithmetic", "schemes": ["bfv"], "ring_dimension": [4096], "operations": ["add"]}
    suite = mine.suite(experiment | {"variants": ["seal"]})
    compared = mine(
        "compare-builds",
        str(suite),
        "cleartext",
        "seal",
        "--error",
        "0.2",
        "--uncorrected",
        "--require-power",
        "25%",
        code=1,
        timeout_s=PATIENCE_OF_RUNS_S,
    ).out
    assert "slower" in compared
    assert AS_MEASURED in " ".join(compared.split())
    assert "with an interval that rules out a slowdown of 25%" in compared
    assert "No result" not in compared
    assert "version: " in compared
    assert {row["variant"] for row in mine.rows("select variant from trials")} == {"cleartext", "seal"}


@pytest.mark.extended
@needs_openfhe
def test_a_build_that_fails_its_checks_is_not_added(mine: Ciphermark, tmp_path: Path) -> None:
    python = interpreters.executable("openfhe")
    subprocess.run([python, "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True)
    missing = mine(
        "build", "add", "bad", "--library", "openfhe", "--environment", str(tmp_path / "env"), code=2
    )
    assert "there is no openfhe in" in missing.err
    (packages,) = (tmp_path / "env").glob("lib/python3*/site-packages")
    (packages / "openfhe").mkdir()
    (packages / "openfhe" / "__init__.py").write_text("raise ImportError('libnothing.so: cannot open')\n")
    ours = next(interpreters.folder("openfhe").glob("lib/python3*/site-packages"))
    for name in ("numpy", "numpy.libs", "msgspec", "typing_extensions.py"):
        (packages / name).symlink_to(ours / name)
    failed = mine(
        "build", "add", "bad", "--library", "openfhe", "--environment", str(tmp_path / "env"), code=2
    )
    assert "the checks failed; the build is not added" in failed.err
    assert "libnothing.so" in failed.err
    assert left(mine) == []


@pytest.mark.extended
@needs_seal
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_addition_leaves_nothing(
    mine: Ciphermark, elsewhere: Path, number: signal.Signals
) -> None:
    process = mine.start("build", "add", "seal-mine", "--library", "seal", "--prefix", str(elsewhere))
    try:
        wait_until(lambda: _compilers(process), "a compiler is at work")
        children = psutil.Process(process.pid).children(recursive=True)
        os.kill(process.pid, number)
        process.wait(PATIENCE_S)
        assert process.returncode != 0
    finally:
        process.kill()
        process.communicate()
    _, alive = psutil.wait_procs(children, timeout=PATIENCE_S)
    assert not alive, "what it started ends with it"
    assert "No builds" in mine("build", "list").out
    refused = mine("build", "add", "seal-mine", "--library", "seal", "--prefix", "nowhere", code=2).err
    assert "there is no SEAL in" in refused
    assert left(mine) == []


def _compilers(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    try:
        children = psutil.Process(process.pid).children(recursive=True)
        return [child for child in children if "cc1plus" in child.name()]
    except psutil.NoSuchProcess:
        return []


MISTAKES = {
    "a bad name": (["a/b", "--library", "seal"], "is not a valid name"),
    "a shipped variant": (["seal", "--library", "seal"], "the variant seal already exists"),
    "an odd library": (["x", "--library", "tenseal"], "'tenseal' does not support added builds"),
    "nothing at a prefix": (
        ["x", "--library", "seal", "--prefix", "/nowhere"],
        "there is no SEAL in /nowhere",
    ),
    "no helib": (["x", "--library", "helib", "--prefix", "/nowhere"], "there is no HElib in /nowhere"),
    "no prefix for helib": (["x", "--library", "helib"], "name its --prefix"),
    "no environment": (["x", "--library", "openfhe"], "name that with --environment"),
    "no python": (["x", "--library", "openfhe", "--environment", "/nowhere"], "is no usable Python"),
    "no compiler": (
        ["x", "--library", "seal", "--compiler", "no-such-c++"],
        "there is no compiler no-such-c++",
    ),
    "flags that do not compile": (["x", "--library", "seal", "--flags", "-Ofoo"], "refuses '-Ofoo'"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_told_in_one_message(mine: Ciphermark, name: str) -> None:
    arguments, said = MISTAKES[name]
    done = mine("build", "add", *arguments, code=2)
    assert said in done.err
    assert len(done.err.strip().splitlines()) == 1, done.err
    assert left(mine) == []


def test_builds_that_there_are_not(mine: Ciphermark) -> None:
    for command in ("show", "remove", "refresh"):
        assert "no build 'x'; builds: none yet" in mine("build", command, "x", code=2).err
    assert "up to date" in mine("build", "refresh").out
    suite = mine.suite(TINY | {"variants": ["cleartext"], "operations": ["add", "mul"]})
    assert "two or more different builds" in mine("bisect", str(suite), "cleartext", code=2).err
    assert "unknown variant 'nothing'" in mine("bisect", str(suite), "cleartext", "nothing", code=2).err
    assert "several cases" in mine("bisect", str(suite), "cleartext", "cleartext@b", code=2).err
    assert (
        "name two different builds"
        in mine("compare-builds", str(suite), "cleartext", "cleartext", code=2).err
    )
    unknown = mine("compare-builds", str(suite), "cleartext", "nothing", code=2)
    assert "unknown variant 'nothing'" in unknown.err
    odd = mine("compare-builds", str(suite), "cleartext", "cleartext@b", "--require-power", "20", code=2)
    assert "--require-power 20: must be a percentage" in odd.err
