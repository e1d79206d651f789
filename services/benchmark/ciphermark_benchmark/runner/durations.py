"""The duration of a suite on this host: that of its last run, by the journals of this data
directory, else an estimate.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.runner import reference_kernel_baseline
from ciphermark_benchmark.runner.journal import Journal
from ciphermark_core.errors import UserError
from ciphermark_core.model import Outcome
from ciphermark_core.run import Host

if TYPE_CHECKING:
    from ciphermark_benchmark.suite.estimate import Estimate

# Time of the reference kernel on the undisturbed machine where the constants of estimates were measured.
REFERENCE_KERNEL_NS = 53_700.0
# A longer pause means an interrupted run: between two trials, workers only start and make keys.
_PAUSE_S = 300.0
_MINUTES_FROM_S, _HOURS_FROM_S = 90.0, 5400.0
_LOOKED_AT = 50  # journals, the latest first
_LEAST_SHARE = 0.005  # that is stated


@dataclass(frozen=True, slots=True)
class Duration:
    """Seconds, measured in a run or estimated. ``parts`` are seconds of an estimate by what they rest on."""

    seconds: float
    is_estimate: bool
    parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def in_words(self) -> str:
        """A sentence without its period."""
        words = in_words(self.seconds)
        if not self.is_estimate:
            return f"Last run on this host: {words}"
        shares = [
            f"{seconds / self.seconds:.0%} by {source}"
            for source, seconds in self.parts.items()
            if seconds >= _LEAST_SHARE * self.seconds
        ]
        return f"Estimated time: {words} on an idle host" + f" ({', '.join(shares)})" * bool(shares)


def expected(data_directory: DataDirectory, text: str, host: Host, estimated: Estimate) -> Duration:
    """The expected duration of a run of all variants of a suite with the given text on this host: that of its last run,
    else as ``estimated``.
    """
    last = _last_runs(data_directory, host, {text}).get(text)
    if last is not None:
        return last
    here = estimated.on_host(_slowness(data_directory, host))
    return Duration(here.seconds, is_estimate=True, parts=here.parts)


def _slowness(data_directory: DataDirectory, host: Host) -> float:
    """How many times as long as on the reference host typical times take on this one, by its reference kernel."""
    level_ns = reference_kernel_baseline.remembered(data_directory.folder, host.cpu_model)
    return (level_ns or REFERENCE_KERNEL_NS) / REFERENCE_KERNEL_NS


def of_texts(
    data_directory: DataDirectory, host: Host, reference_s: Mapping[str, float]
) -> dict[str, Duration]:
    """The durations of several suites, by their texts; ``reference_s`` are their estimates for the reference host."""
    slowness = _slowness(data_directory, host)
    estimates = {
        text: Duration(seconds * slowness, is_estimate=True) for text, seconds in reference_s.items()
    }
    return estimates | _last_runs(data_directory, host, reference_s)


def in_words(seconds: float) -> str:
    """A duration with its unit: 17 s, 6.5 min, 1.2 h."""
    if seconds < _MINUTES_FROM_S:
        return f"{max(1, round(seconds))} s"
    if seconds < _HOURS_FROM_S:
        return f"{seconds / 60:.2g} min"
    return f"{seconds / 3600:.1f} h"


def _last_runs(data_directory: DataDirectory, host: Host, texts: Container[str]) -> dict[str, Duration]:
    """The durations of the last complete runs of suites on this host, by text, where known."""
    paths = [*data_directory.recorded.glob("*.jsonl"), *data_directory.of_jobs.recorded.glob("*.jsonl")]
    durations: dict[str, Duration] = {}
    for path in sorted(paths, key=_written_at, reverse=True)[:_LOOKED_AT]:
        try:
            journal = Journal.read(path)
            header, run = journal.header, journal.header.run
            if run.suite_text not in texts or run.host.fingerprint != host.fingerprint or header.variants:
                continue
            outcomes = [] if run.suite_text in durations else list(journal.outcomes())
        except (UserError, OSError, ValueError, StopIteration):  # from another version, or removed
            continue
        if outcomes and len({outcome.trial.id for outcome in outcomes}) == header.trials:
            durations[run.suite_text] = Duration(worked_s(run.started_at, outcomes), is_estimate=False)
    return durations


def worked_s(started_at: str, outcomes: Iterable[Outcome]) -> float:
    """The working time of a run since its start, without its pauses. Pure."""
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
