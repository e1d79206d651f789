"""Variants that need another interpreter: the contract suite passes there, and workers of ours and theirs agree."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import msgspec
import pytest

from ciphermark_adapters import interpreters, registry
from ciphermark_benchmark.processes import Confinement, WorkerDied, WorkerProcess, mismatch
from ciphermark_contract.keys import KeyRequest
from ciphermark_core import host
from ciphermark_core.model import ParameterSpec
from ciphermark_measure import protocol

ROOT = Path(__file__).resolve().parents[2]
VARIANTS = [name for name, declared in registry.declarations().items() if declared.environment]
CONFINEMENT = Confinement(cpus=(), threads=1, memory_mb=4096)


def _require(variant: str) -> None:
    found = registry.availability(variant, frozenset(host.collect().cpu_flags))
    if not found.is_installed:
        pytest.skip(f"{variant}: {found.reason}; {found.remedy}")


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_contract_suite_passes_in_its_own_interpreter(variant: str) -> None:
    _require(variant)
    command = [registry.interpreter(variant), "-m", "pytest", "tests/contract", "--variant", variant]
    options = ["-q", "-p", "no:cacheprovider", "--tb=short"]
    done = subprocess.run(
        [*command, *options],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert " passed" in done.stdout


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_worker_there_speaks_our_protocol(variant: str) -> None:
    _require(variant)
    worker = WorkerProcess(CONFINEMENT, registry.interpreter(variant))
    try:
        spec = ParameterSpec("bfv", 4096, (40, 60), 65537, security=0)
        reply = worker.ask(protocol.Prepare(variant, spec, KeyRequest(True, (1,), (-1,))), 60)
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
    flags = frozenset(host.collect().cpu_flags)
    found = registry.availability(variant, flags)
    assert found.reason is not None
    assert str(tmp_path) in found.reason
    assert found.remedy
    assert registry.availability("cleartext", flags).is_installed


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
            worker.ask(protocol.Turn(), 10)
    finally:
        worker.end()
