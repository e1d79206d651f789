"""Runs setup stages, each after what it needs: what is up to date is skipped, and a failure stops only what needs it.

A stage's stamp is the hash of everything its result depends on. It is written after the stage succeeded and
removed before it starts, so that an interrupted stage runs again.
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
    """An expected failure: what happened, and what the reader can do about it."""

    def __init__(self, what: str, advice: str) -> None:
        super().__init__(what)
        self.what = what
        self.advice = advice


class Shell:
    """Runs commands, with all they print in the stage's log. ``at_work`` are those of all stages."""

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

    `inputs` gives every text that, when it changes, makes the stage run again; so does a change of a stage in
    `rebuilt_with`. `is_present` says whether the result is still there. A stage runs only when all that it
    `needs` succeeded. Without the result of an optional stage the setup is complete all the same.
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
        """Return the hash of all that the stage's result depends on."""
        upstream = {name: _read_stamp(name) for name in self.rebuilt_with}
        material = json.dumps([self.name, list(self.inputs()), upstream])
        return hashlib.sha256(material.encode()).hexdigest()

    def is_current(self) -> bool:
        """Tell whether the result is there and made from today's inputs."""
        return _read_stamp(self.name) == self.fingerprint() and self.is_present()


@dataclass(frozen=True, slots=True)
class Missing:
    """A stage without a result, and the reason."""

    name: str
    reason: str
    is_optional: bool


def log_path(stage_name: str) -> Path:
    """Return where the stage's output goes."""
    return LOGS / f"{stage_name}.log"


def run_stages(stages: Sequence[Stage]) -> tuple[int, list[Missing]]:
    """Bring every stage up to date; return how many had work to do, and those that have no result now.

    Two are at work at a time: a compiler that is started file by file leaves the second core to another.
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
    """Which stages wait, which have ended, and what came of them."""

    def __init__(self, stages: Sequence[Stage]) -> None:
        self.progress = Progress(len(stages))
        self.waiting = dict(enumerate(stages, start=1))
        self.ended: set[str] = set()
        self.worked = 0
        self.missing: dict[str, Missing] = {}
        self._names = {stage.name for stage in stages}

    def ready(self, most: int) -> list[tuple[int, Stage]]:
        """Take the first that wait for nothing of this run, at most so many."""
        free = [
            (number, stage)
            for number, stage in self.waiting.items()
            if self._names.intersection((*stage.needs, *stage.rebuilt_with)) <= self.ended
        ][:most]
        for number, _ in free:
            del self.waiting[number]
        return free

    def carry_out(self, number: int, stage: Stage) -> None:
        """Bring one stage up to date, unless something that it needs is missing."""
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
    """Run the stage and stamp it; explain a failure to the reader and return what is missing."""
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
