"""Runs setup stages in order of their needs; skips current ones, and after a failure only the stages that depend on it.

A stage's stamp is the hash of everything its result depends on. It is written after the stage succeeds and removed
before it starts, so that an interrupted stage runs again.
"""

import hashlib
import json
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TextIO

from places import LOGS, ROOT, STAMPS, tool_environment
from progress import Progress

TAIL_LINES = 25
TAIL_BYTES = 8192
_AT_A_TIME = 2


class FailureError(Exception):
    """An expected failure: its text, and advice for the reader."""

    def __init__(self, what: str, advice: str) -> None:
        super().__init__(what)
        self.what = what
        self.advice = advice


class Shell:
    """Runs commands, with their output in the stage's log. ``at_work`` are the running commands of all stages."""

    at_work: ClassVar[set[subprocess.Popen[bytes]]] = set()

    def __init__(self, log: TextIO) -> None:
        self._log = log

    def run(self, *command: str | Path, advice: str, extra_env: Mapping[str, str] | None = None) -> None:
        """Run one command to its end; raise `FailureError` with the advice when it fails."""
        words = [str(word) for word in command]
        self._log.write(f"$ {' '.join(words)}\n")
        self._log.flush()
        env = {**tool_environment(), **(extra_env or {})}
        try:
            process = subprocess.Popen(
                words, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=self._log, stderr=subprocess.STDOUT
            )
        except FileNotFoundError as error:
            raise FailureError(f"the command {words[0]} is not installed", advice) from error
        self.at_work.add(process)
        returned = process.wait()
        self.at_work.discard(process)
        if returned != 0:
            raise FailureError(f"{Path(words[0]).name} ended with exit code {returned}", advice)

    def note(self, text: str) -> None:
        """Write a line of our own into the log."""
        self._log.write(f"{text}\n")


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of the setup.

    `inputs` returns all texts whose change makes the stage run again; so does a change of a stage in
    `rebuilt_with`. `is_present` returns whether the result still exists. A stage runs only after all stages that it
    `needs` have succeeded. The setup is complete without the result of an optional stage.
    """

    name: str
    title: str
    inputs: Callable[[], Iterable[str]]
    is_present: Callable[[], bool]
    build: Callable[[Shell], None]
    needs: tuple[str, ...] = ()
    rebuilt_with: tuple[str, ...] = ()
    is_optional: bool = False

    def fingerprint(self) -> str:
        """Return the hash of everything that the stage's result depends on."""
        upstream = {name: _read_stamp(name) for name in self.rebuilt_with}
        material = json.dumps([self.name, list(self.inputs()), upstream])
        return hashlib.sha256(material.encode()).hexdigest()

    def is_current(self) -> bool:
        """Return whether the result exists and comes from the current inputs."""
        return _read_stamp(self.name) == self.fingerprint() and self.is_present()


@dataclass(frozen=True, slots=True)
class Missing:
    """A stage without a result, and the reason."""

    name: str
    reason: str
    is_optional: bool


def log_path(stage_name: str) -> Path:
    """Return the path of the stage's log."""
    return LOGS / f"{stage_name}.log"


def run_stages(stages: Sequence[Stage]) -> tuple[int, list[Missing]]:
    """Bring every stage up to date; return the number of stages that ran, and those without a result.

    Two stages run at a time: a compiler that is started file by file leaves the second core to another stage.
    """
    run = _Run(stages)
    with run.progress.shown(), ThreadPoolExecutor(_AT_A_TIME) as pool:
        at_work: dict[Future[None], str] = {}
        try:
            while run.waiting or at_work:
                for number, stage in run.ready(_AT_A_TIME - len(at_work)):
                    at_work[pool.submit(run.carry_out, number, stage)] = stage.name
                for future in wait(at_work, return_when=FIRST_COMPLETED).done:
                    run.ended.add(at_work.pop(future))
                    future.result()
        except KeyboardInterrupt:
            for process in tuple(Shell.at_work):
                process.terminate()
            raise
    return run.worked, list(run.missing.values())


class _Run:
    """The waiting and the ended stages, and their outcomes."""

    def __init__(self, stages: Sequence[Stage]) -> None:
        self.progress = Progress(len(stages))
        self.waiting = dict(enumerate(stages, start=1))
        self.ended: set[str] = set()
        self.worked = 0
        self.missing: dict[str, Missing] = {}
        self._names = {stage.name for stage in stages}

    def ready(self, most: int) -> list[tuple[int, Stage]]:
        """Take at most ``most`` of the first stages that wait for no other stage of this run."""
        free = [
            (number, stage)
            for number, stage in self.waiting.items()
            if self._names.intersection((*stage.needs, *stage.rebuilt_with)) <= self.ended
        ][:most]
        for number, _ in free:
            del self.waiting[number]
        return free

    def carry_out(self, number: int, stage: Stage) -> None:
        """Bring one stage up to date, unless a stage that it needs has no result."""
        broken = [name for name in stage.needs if name in self.missing]
        if broken:
            reason = f"not tried: it needs {', '.join(broken)}"
            self.missing[stage.name] = Missing(stage.name, reason, stage.is_optional)
        elif not stage.is_current():
            self.worked += 1
            failure = _run_stage(stage, number, self.progress)
            if failure:
                self.missing[stage.name] = failure


def _run_stage(stage: Stage, number: int, progress: Progress) -> Missing | None:
    """Run the stage and stamp it; print the reason of a failure and return the missing result."""
    stamp = STAMPS / stage.name
    stamp.unlink(missing_ok=True)
    fingerprint = stage.fingerprint()
    try:
        with progress.stage(number, stage.title), log_path(stage.name).open("w") as log:
            stage.build(Shell(log))
            if not stage.is_present():
                raise FailureError("it ended well but left no result", "please report this, with the log")
    except FailureError as failure:
        _explain(stage, failure)
        return Missing(stage.name, failure.what, stage.is_optional)
    except OSError as error:
        _explain(stage, FailureError(str(error), "check free disk space and permissions, then run it again"))
        return Missing(stage.name, str(error), stage.is_optional)
    stamp.write_text(fingerprint)
    return None


def _explain(stage: Stage, failure: FailureError) -> None:
    log = log_path(stage.name)
    text = log.read_bytes()[-TAIL_BYTES:].decode(errors="replace")
    lines = [
        *(f"    | {line}" for line in text.splitlines()[-TAIL_LINES:]),
        f"  {stage.name} failed: {failure.what}",
        f"  What to do: {failure.advice}",
        f"  The whole log: {log.relative_to(ROOT)}",
    ]
    print("\n".join(lines), flush=True)


def _read_stamp(stage_name: str) -> str:
    stamp = STAMPS / stage_name
    return stamp.read_text() if stamp.exists() else ""
