"""Tests of variants that another interpreter loads: that interpreter executes them, and each is reported here.

Its pytest executes all of them that were chosen, in one process, and writes what became of each to a pipe: see
:class:`Teller`. Here an :class:`Elsewhere` stands in the place of each test, and passes or fails as it did there.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

import pytest
from hypothesis import settings

from ciphermark_adapters import registry

ROOT = Path(__file__).parents[2]
# How much of what the other interpreter printed a failure shows.
TAIL_BYTES = 6000


class FailedElsewhereError(Exception):
    """A test failed in the other interpreter; the text is what its pytest says of it."""


class Teller:
    """In the other interpreter: writes a line of JSON for each test as soon as it has ended."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "w", encoding="utf-8", buffering=1)  # noqa: SIM115 # as long as the session
        self._outcome, self._text = "passed", ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Called for a test's setup, the test itself, and what comes after it."""
        if report.outcome != "passed" and self._outcome != "failed":
            self._outcome = report.outcome
        self._text += _text_of(report)
        if report.when == "teardown":
            told = {"test": report.nodeid, "outcome": self._outcome, "text": self._text}
            self._file.write(json.dumps(told) + "\n")
            self._outcome, self._text = "passed", ""

    def pytest_unconfigure(self) -> None:
        self._file.close()


def _text_of(report: pytest.TestReport) -> str:
    if isinstance(report.longrepr, tuple):  # a skip: file, line and reason
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    return report.longreprtext


class Execution:
    """The tests of one variant, under way in its own interpreter."""

    def __init__(self, variant: str, tests: Sequence[str], config: pytest.Config) -> None:
        reading, writing = os.pipe()
        self._told: dict[str, dict[str, str]] = {}
        self._printed = TemporaryFile()  # noqa: SIM115 # as long as the process
        # Where pytest chooses a folder itself, it closes that of all sessions of a user to all others, and so to the
        # PostgreSQL servers of the session that this one is part of: as root's they run as another user.
        self._folder = TemporaryDirectory(prefix="ciphermark-elsewhere-")
        options = ["--variant", variant, "--outcomes", f"/dev/fd/{writing}", "-q", "-p", "no:cacheprovider"]
        options += [
            "-m",
            config.option.markexpr,
            f"--hypothesis-profile={settings.get_current_profile_name()}",
        ]
        options.append(f"--basetemp={self._folder.name}/pytest")
        self._process = subprocess.Popen(
            [registry.interpreter(variant), "-m", "pytest", *options, *tests],
            cwd=ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            stdin=subprocess.DEVNULL,
            stdout=self._printed,
            stderr=subprocess.STDOUT,
            pass_fds=[writing],
        )
        os.close(writing)
        self._lines = open(reading, encoding="utf-8")  # noqa: SIM115 # as long as the process

    def outcome(self, test: str) -> dict[str, str]:
        """``outcome`` and ``text`` of a test; waits until it has ended."""
        while test not in self._told:
            line = self._lines.readline()
            if not line:
                return {"outcome": "failed", "text": self._end()}
            told = json.loads(line)
            self._told[told["test"]] = told
        return self._told.pop(test)

    def _end(self) -> str:
        """What to say of a test of which nothing was told."""
        code = self._process.wait()
        self._printed.seek(max(0, self._printed.seek(0, os.SEEK_END) - TAIL_BYTES))
        printed = self._printed.read().decode(errors="replace")
        return f"{self._process.args[0]} ended with {code} and not responded of this test:\n{printed}"

    def close(self) -> None:
        """End what is still under way."""
        self._process.kill()
        self._process.wait()
        self._lines.close()
        self._printed.close()
        self._folder.cleanup()


EXECUTIONS = pytest.StashKey[dict[str, Execution]]()


class Elsewhere(pytest.Item):
    """Stands for a test that another interpreter executes."""

    def __init__(self, *, variant: str, original: pytest.Function, **settings: Any) -> None:
        super().__init__(**settings)
        self.variant = variant
        self.own_markers.extend(original.own_markers)
        self._place = original.reportinfo()

    @classmethod
    def of(cls, original: pytest.Function, variant: str) -> Elsewhere:
        """Has the name, the marks and the place of the test."""
        made: Elsewhere = cls.from_parent(
            original.parent, name=original.name, variant=variant, original=original
        )
        return made

    def runtest(self) -> None:
        executions = self.config.stash.setdefault(EXECUTIONS, {})
        if self.variant not in executions:
            chosen = [item for item in self.session.items if isinstance(item, Elsewhere)]
            tests = [item.nodeid for item in chosen if item.variant == self.variant]
            executions[self.variant] = Execution(self.variant, tests, self.config)
        told = executions[self.variant].outcome(self.nodeid)
        if told["outcome"] == "skipped":
            pytest.skip(told["text"])
        if told["outcome"] != "passed":
            raise FailedElsewhereError(told["text"])

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, FailedElsewhereError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        return self._place


def close(config: pytest.Config) -> None:
    """End every interpreter that was started."""
    for execution in config.stash.get(EXECUTIONS, {}).values():
        execution.close()
