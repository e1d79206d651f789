"""`make serve` under load, and one process of it after the other killed with -9."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import psutil
import psycopg
from processes import wait_until
from serving import Serving, free_ports

from ciphermark_db import embedded
from kills import ledger, reading
from kills.ledger import Asked, Kill
from kills.load import PROBES, Caller, Load
from kills.victims import KINDS, Kind, Restraint, alive

REFERENCE = "kills-reference"
PATIENCE_S = 300.0  # for something to come to be that must
_LOOK_S = 0.1
_SETTLED_S = 2.0  # of answers without a failure: a database that is gone is noticed within half a second
_PAUSES_S = (0.5, 3.0)
_VICTIM_S = 60.0  # until there is a process of a kind; then it is another kind's turn
_UNDER_WAY = "select id, deaths from job where state = 'running'"


@dataclass(frozen=True)
class Recovery:
    """For how long not all services answered after a kill; and after how long they were waited for no more."""

    kind: str
    lasted_s: float
    is_complete: bool


@dataclass
class Report:
    """What a soak came to."""

    seed: int
    kills: list[Kill] = field(default_factory=list)
    recoveries: list[Recovery] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def slower_than(self, within_s: float) -> list[str]:
        """The kills after which some service did not answer for longer."""
        slow = [item for item in self.recoveries if item.lasted_s > within_s or not item.is_complete]
        return [
            f"slow: after {item.lasted_s:.1f} s all answer again ({item.kind} was killed)" for item in slow
        ]

    def lines(self) -> Iterator[str]:
        """The whole in words."""
        counts = Counter(kill.kind for kill in self.kills)
        yield f"seed {self.seed}, {len(self.kills)} kills: " + ", ".join(
            f"{count} {kind}" for kind, count in counts.most_common()
        )
        if self.recoveries:
            lasted_s = sorted(item.lasted_s for item in self.recoveries)
            yield f"all services answer again after {median(lasted_s):.1f} s (median), {lasted_s[-1]:.1f} s (longest)"
        yield from self.told
        yield from self.complaints or ["nothing lost, nothing doubled"]


class Soak:
    """One run of it, in a data directory of its own."""

    def __init__(self, data_directory: Path, seed: int, tell: Callable[[str], None] = print) -> None:
        self._serving = Serving(data_directory, free_ports())
        self._data_directory = data_directory
        self._random = random.Random(seed)
        self._tell = tell
        self._restraint = Restraint()
        self.report = Report(seed)

    def of_each_kind(self, kinds: Sequence[Kind]) -> Report:
        """One kill of each of these kinds, in an order that the seed decides."""
        order = self._random.sample(kinds, len(kinds))
        return self._soaked(lambda: iter(order))

    def of_any_kind(self, kills: int) -> Report:
        """So many kills of kinds that the seed decides."""
        return self._soaked(lambda: (self._random.choice(KINDS) for _ in range(kills)))

    def _soaked(self, turns: Callable[[], Iterator[Kind]]) -> Report:
        try:
            self._serving.wait_until_serving()
            self._caller = Caller(self._serving)
            self._url = embedded.ensure_started(self._data_directory)
            load = Load(self._serving)
            assert load.submitted(self._caller, REFERENCE), load.wrong
            wait_until(lambda: set(self._states()) == {"done"}, "the first job is done", PATIENCE_S)
            expected = {
                trial.place: trial.status for trial in reading.found(self._url, self._data_directory).trials
            }
            assert "ok" in expected.values()
            with load.kept():
                wait_until(self._under_way, "a job is under way", PATIENCE_S)
                for kind in turns():
                    self._turn(kind)
                load.enough()
                self._drained()
            self._judge(load, expected)
            self._caller.close()
        finally:
            self._end()
        return self.report

    def _turn(self, kind: Kind) -> None:
        """Kill a process of the kind, or of another one where none comes or may be killed, and wait for answers."""
        victim, kind = self._victim(kind)
        under_way = self._under_way()
        self._restraint.killed(kind, time.monotonic(), under_way)
        at_s = time.time()
        with suppress(psutil.NoSuchProcess):  # it went by itself a moment ago
            victim.kill()
        recovery = self._recovered(kind.name)
        self.report.recoveries.append(recovery)
        self.report.kills.append(Kill(kind.name, at_s, time.time(), kind.spoils_trials))
        self._tell(
            f"{len(self.report.kills):3} {kind.name} (process {victim.pid}): "
            f"all answer again after {recovery.lasted_s:.1f} s"
        )
        time.sleep(self._random.uniform(*_PAUSES_S))

    def _victim(self, asked: Kind) -> tuple[psutil.Process, Kind]:
        others = [kind for kind in KINDS if kind is not asked]
        for kind in (asked, *self._random.sample(others, len(others))):
            deadline_s = time.monotonic() + _VICTIM_S
            while time.monotonic() < deadline_s:
                allowed = self._restraint.allows(kind, time.monotonic(), self._under_way())
                processes = alive(kind, self._serving) if allowed else []
                if processes:
                    return self._random.choice(processes), kind
                time.sleep(_LOOK_S)
        raise AssertionError("nothing is there that may be killed")

    def _recovered(self, kind: str) -> Recovery:
        begun_s = failed_s = good_s = time.monotonic()
        while time.monotonic() - begun_s < PATIENCE_S:
            asked_s = time.monotonic()
            if all(self._caller.get(*probe).status == 200 for probe in PROBES):
                if good_s <= failed_s:
                    good_s = time.monotonic()
                if asked_s - max(failed_s, begun_s) >= _SETTLED_S:
                    return Recovery(kind, 0.0 if failed_s == begun_s else good_s - begun_s, True)
            else:
                failed_s = time.monotonic()
            time.sleep(_LOOK_S)
        return Recovery(kind, PATIENCE_S, False)

    def _under_way(self) -> dict[str, int]:
        """The jobs that are executed, and how many of their deaths are counted."""
        try:
            with psycopg.connect(self._url, autocommit=True, connect_timeout=10) as connection:
                return {str(name): int(deaths) for name, deaths in connection.execute(_UNDER_WAY)}
        except psycopg.OperationalError:  # it comes back by itself
            return {}

    def _states(self) -> list[str]:
        try:
            with psycopg.connect(self._url, autocommit=True, connect_timeout=10) as connection:
                return [str(state) for (state,) in connection.execute("select state from job")]
        except psycopg.OperationalError:
            return ["running"]

    def _drained(self) -> None:
        """Wait until no job is left; what hangs is complained of."""
        deadline_s = time.monotonic() + 2 * PATIENCE_S
        while not {"queued", "running"}.isdisjoint(self._states()) and time.monotonic() < deadline_s:
            time.sleep(1.0)

    def _judge(self, load: Load, expected: dict[ledger.Place, str]) -> None:
        found = reading.found(self._url, self._data_directory)
        asked = Asked(frozenset(load.names), dict(load.accepted), expected)
        report = self.report
        report.complaints += ledger.complaints(asked, found, report.kills)
        report.complaints += [f"wrong answer: {text}" for text in load.wrong]
        conditions = json.loads((self._data_directory / "logs" / "services.json").read_text())
        report.complaints += [
            f"given up: {unit['name']}: {unit['reason']}"
            for unit in conditions
            if unit["state"] == "given up"
        ]
        answers = Counter(status for _, status in load.answers.elements())
        tracebacks = {
            log.name: count
            for log in sorted((self._data_directory / "logs").glob("*.log"))
            if (count := log.read_text(errors="replace").count("Traceback"))
        }
        report.told += [
            f"{len(found.jobs)} jobs, {len(found.trials)} trials, {ledger.crashed(asked, found)} of them crashed "
            "with a process that was killed",
            "requests meanwhile: "
            + ", ".join(f"{count} × {status or 'no answer'}" for status, count in answers.most_common()),
            *(f"{count} tracebacks in {name}" for name, count in tracebacks.items()),
        ]

    def _end(self) -> None:
        if self._serving.process.poll() is None:
            self._serving.end()
        embedded.stop(self._data_directory)
