"""Variants that need another interpreter: it executes the contract suite, and workers of ours and theirs agree."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import installed
import msgspec
import pytest

import ciphermark_adapters
from ciphermark_adapters import interpreters, registry
from ciphermark_benchmark.processes import WorkerProcess
from ciphermark_contract.keys import KeyRequest
from ciphermark_core.model import ParameterSpec
from ciphermark_measure import protocol
from ciphermark_measure.processes import Confinement, WorkerDied, mismatch

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = Path(ciphermark_adapters.__file__).parent / "_template"
VARIANTS = [name for name, declared in registry.declarations().items() if declared.environment]
CONFINEMENT = Confinement(cpus=(), threads=1, memory_mb=4096)


def _require(variant: str) -> None:
    if (reason := installed.absence(variant)) is not None:
        pytest.skip(reason)


def _environment(folder: Path) -> Path:
    """A virtual environment with all that ours has."""
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python3.*/site-packages")
    ours = sysconfig.get_path("purelib")
    (packages / "ours.pth").write_text(f"import site; site.addsitedir({ours!r})\n")
    return folder


def _contract_suite(tmp_path: Path, mistake: tuple[str, str]) -> str:
    """What pytest prints of two operations of the template, which an environment of its own loads, with a mistake."""
    folder = shutil.copytree(TEMPLATE, tmp_path / "adapters" / "elsewhere")
    for file in folder.glob("*.py"):
        file.write_text(file.read_text().replace("template", "elsewhere").replace("Template", "Elsewhere"))
    for file, (before, after) in {
        "declaration.py": (
            'requires=("numpy",)',
            f"environment={str(_environment(tmp_path / 'venv'))!r}",
        ),
        "adapter.py": mistake,
    }.items():
        text = (folder / file).read_text()
        assert before in text
        (folder / file).write_text(text.replace(before, after))
    options = ["--variant", "elsewhere", "-rA", "-p", "no:cacheprovider", "-k", "bfv and (add or mul)"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "tests/contract/test_operations.py", *options],
        cwd=ROOT,
        env={
            **os.environ,
            "CIPHERMARK_ADAPTER_PATH": str(folder.parent),
            "COLUMNS": "200",
            "PYTEST_DEBUG_TEMPROOT": str(tmp_path),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 1, done.stdout[-3000:]
    return done.stdout


def test_the_contract_suite_tells_test_by_test_what_another_interpreter_executes(tmp_path: Path) -> None:
    printed = _contract_suite(tmp_path, ("np.add(a.slots, b.slots)", "np.add(a.slots, a.slots)"))
    test = "tests/contract/test_operations.py::test_primitive"
    assert f"FAILED {test}[elsewhere-bfv-add]" in printed
    assert "slots are wrong" in printed
    assert f"PASSED {test}[elsewhere-bfv-mul]" in printed


@pytest.mark.extended
def test_the_contract_suite_fails_where_another_interpreter_dies(tmp_path: Path) -> None:
    printed = _contract_suite(tmp_path, ("import numpy as np", "import os; os._exit(3)"))
    assert "python ended with 3 and not responded of this test" in printed
    assert "PASSED" not in printed


@pytest.mark.extended
@pytest.mark.parametrize("variant", VARIANTS)
def test_its_tests_have_folders_of_their_own(variant: str, tmp_path: Path) -> None:
    """Not among those of all sessions: see :class:`Execution` in tests/contract/elsewhere.py."""
    _require(variant)
    root = tmp_path / "root"
    root.mkdir()
    chosen = ["tests/contract/test_retrieval.py", "-k", "server_is_sent and bfv and keyword"]
    options = ["--variant", variant, "-q", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'ours'}"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *chosen, *options],
        cwd=ROOT,
        env={**os.environ, "PYTEST_DEBUG_TEMPROOT": str(root)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert "passed" in done.stdout.splitlines()[-1], done.stdout[-3000:]
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_worker_there_speaks_our_protocol(variant: str) -> None:
    _require(variant)
    worker = WorkerProcess(CONFINEMENT, registry.interpreter(variant))
    try:
        spec = ParameterSpec("bfv", 4096, (40, 60), 65537, security=0)
        reply = worker.ask(protocol.Prepare(variant, spec, KeyRequest.of(True, (1,), (-1,))), 60)
        assert isinstance(reply, protocol.Prepared), reply
        assert reply.library.variant == variant
        assert reply.library.build["python"] != ""
    finally:
        worker.end()


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_missing_environment_is_told_with_a_remedy(
    variant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(interpreters.PATH_VARIABLE, str(tmp_path))
    found = installed.availability(variant)
    assert found.reason is not None
    assert str(tmp_path) in found.reason
    assert found.remedy
    assert installed.availability("cleartext").is_installed


def test_an_environment_without_the_library_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(interpreters.PATH_VARIABLE, str(tmp_path))
    python = tmp_path / ".venv-openfhe" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to("/bin/sh")
    found = registry.availability("openfhe", frozenset())
    assert found.reason == "module openfhe is not installed"
    package = tmp_path / ".venv-openfhe" / "lib" / "python3.10" / "site-packages" / "openfhe"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    assert registry.availability("openfhe", frozenset()).is_installed


def test_a_worker_of_another_version_is_explained() -> None:
    hello = protocol.Hello(protocol.VERSION + 1, "3.10.8", 0, is_pinned=False)
    text = mismatch(hello, "/somewhere/python")
    for part in (
        f"version {protocol.VERSION + 1}",
        "3.10.8",
        f"version {protocol.VERSION} is",
        "/somewhere/python",
    ):
        assert part in text
    assert "no version" in mismatch(protocol.Peaks(), "python")


def test_a_worker_that_greets_with_another_version_is_ended(tmp_path: Path) -> None:
    greeting = protocol.Hello(protocol.VERSION + 1, "3.10.8", 0, is_pinned=False)
    other = tmp_path / "python"
    other.write_text(f"#!/bin/sh\necho '{msgspec.json.encode(greeting).decode()}'\nexec sleep 60\n")
    other.chmod(0o755)
    worker = WorkerProcess(CONFINEMENT, str(other))
    try:
        with pytest.raises(WorkerDied, match=f"speaks version {protocol.VERSION + 1}"):
            worker.ask(protocol.Turn(), 60)
    finally:
        worker.end()
