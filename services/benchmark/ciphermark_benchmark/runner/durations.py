"""How long a suite takes here: as long as its last run did, by the journals of this home, or else a guess."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ciphermark_benchmark.home import Home
from ciphermark_benchmark.runner import quiet_level
from ciphermark_benchmark.runner.journal import Journal
from ciphermark_core.budget import Budget
from ciphermark_core.errors import UserError
from ciphermark_core.model import Outcome
from ciphermark_core.run import Host

if TYPE_CHECKING:
    from ciphermark_benchmark.suite.form import Suite
    from ciphermark_benchmark.suite.plan import PlannedCase

# What the anchor takes in the quiet state of the machine that the constants of guesses are from.
REFERENCE_ANCHOR_NS = 53_700.0
# A run that rested for longer was interrupted: between two trials workers start, and make keys.
_PAUSE_S = 300.0
_LOOKED_AT = 50  # journals, the latest first


@dataclass(frozen=True, slots=True)
class Duration:
    """Seconds, and whether a run took them or they are guessed."""

    seconds: float
    is_guess: bool

    @property
    def in_words(self) -> str:
        """As one would say it."""
        words = in_words(self.seconds)
        return f"a guess: {words} on an idle host" if self.is_guess else f"its last run here took {words}"


def expected(home: Home, text: str, suite: Suite, planned: Sequence[PlannedCase], host: Host) -> Duration:
    """What a run of all variants of a suite, whose text this is, will take on this host."""
    from ciphermark_benchmark.suite import estimate  # large, and needed for a plan alone

    budget = suite.budget.budget
    return of_trials(home, text, host, trials_of(planned, budget), estimate.run_s(planned, budget))


def of_trials(home: Home, text: str, host: Host, trials: int, reference_s: float) -> Duration:
    """The same of a suite whose plan has so many trials, and would take so long on the host that guesses are for."""
    last_s = _last_s(home, text, host, trials)
    if last_s is not None:
        return Duration(last_s, is_guess=False)
    level_ns = quiet_level.remembered(home.folder, host.cpu_model)
    return Duration(reference_s * (level_ns or REFERENCE_ANCHOR_NS) / REFERENCE_ANCHOR_NS, is_guess=True)


def trials_of(planned: Sequence[PlannedCase], budget: Budget) -> int:
    """The outcomes of a whole run: a trial for each process of a case, one for each case that is not executed. Pure."""
    possible = sum(item.reason is None for item in planned)
    return possible * budget.processes + len(planned) - possible


def in_words(seconds: float) -> str:
    """Seconds, minutes or hours, as one would say it."""
    if seconds < 90:
        whole = max(1, round(seconds))
        return f"{whole} second{'' if whole == 1 else 's'}"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def _last_s(home: Home, text: str, host: Host, trials: int) -> float | None:
    """What the last whole run of the suite took on this host; ``None`` where none is known."""
    paths = [*home.recorded.glob("*.jsonl"), *home.of_jobs.recorded.glob("*.jsonl")]
    for path in sorted(paths, key=_written_at, reverse=True)[:_LOOKED_AT]:
        try:
            journal = Journal.read(path)
            run = journal.header.run
            if (run.suite_text, run.host.fingerprint) != (text, host.fingerprint) or journal.header.variants:
                continue
            outcomes = list(journal.outcomes())
        except (UserError, OSError, ValueError, StopIteration):  # of another version, or gone
            continue
        if len({outcome.trial.id for outcome in outcomes}) == trials:
            return worked_s(run.started_at, outcomes)
    return None


def worked_s(started_at: str, outcomes: Iterable[Outcome]) -> float:
    """How long a run took that began then: its rests aside. Pure."""
    last, total = datetime.fromisoformat(started_at).timestamp(), 0.0
    spans = sorted(
        (datetime.fromisoformat(item.started_at).timestamp(), item.duration_s) for item in outcomes
    )
    for begin, duration_s in spans:
        end = max(last, begin + duration_s)
        rest_s = begin - last
        total += end - last - (rest_s if rest_s > _PAUSE_S else 0.0)
        last = end
    return total


def _written_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
