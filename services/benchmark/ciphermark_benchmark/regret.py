"""Regret of advice: questions are answered from cost tables, then every alternative within the limits is measured."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from ciphermark_benchmark import advising
from ciphermark_benchmark.advising import Wish
from ciphermark_benchmark.limits import WishText, read
from ciphermark_benchmark.suite import files
from ciphermark_core.descriptor import Value
from ciphermark_core.errors import UserError
from ciphermark_core.run import Host
from ciphermark_db.database import Database
from ciphermark_model.advice import Candidate, Limits, advise, misses, regret
from ciphermark_model.quantity import Quantity
from ciphermark_present import formats
from ciphermark_present.catalogue.advice import LIMITS
from ciphermark_present.printed import Head, Printed
from ciphermark_workloads.catalogue import AnyWorkload
from ciphermark_workloads.options import to_case

_BUDGET = {"processes": 2, "min_samples": 6, "warmups": 1}
_CLOSE = 0.05  # the target


@dataclass(frozen=True, slots=True)
class Question:
    """A workload, by name or as ``FILE.py:NAME`` relative to the questions, its options, and the limits."""

    workload: str
    options: Mapping[str, Value]
    asked: WishText


@dataclass(frozen=True, slots=True)
class Questions:
    """The questions of a file, and the sampling ``budget`` of their alternatives, as suites write it."""

    several: tuple[Question, ...]
    budget: Mapping[str, Any]


def questions(path: Path) -> Questions:
    """The questions of a YAML file. Raises ``UserError`` for an unreadable file and for invalid questions."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot read the questions: {error}") from None
    whole = files.plain(text, str(path))
    several = whole.get("questions") if isinstance(whole, dict) else None
    if not isinstance(several, list) or not several:
        raise UserError(f"{path}: write a list, questions: [{{workload: logistic, latency: 2s}}]")
    asked = [_question_of(item, f"{path}: question {place}") for place, item in enumerate(several, 1)]
    return Questions(tuple(asked), whole.get("budget", _BUDGET))


def _question_of(item: Any, origin: str) -> Question:
    if not isinstance(item, dict) or not isinstance(item.get("workload"), str):
        raise UserError(f"{origin}: a question has a workload")
    options = item.get("options", {})
    if not isinstance(options, dict):
        raise UserError(f"{origin}: options are a mapping of names to values")
    limits = {name: value for name, value in item.items() if name not in ("workload", "options")}
    return Question(item["workload"], options, read(limits, origin))


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question before anything is measured: all alternatives within the limits, the first choice first,
    then the other points, then those that a point dominates.
    """

    wish: Wish
    alternatives: tuple[Candidate, ...]


def wish_of(question: Question, workload: AnyWorkload, facts: Host) -> Wish:
    """What a question asks. It may add libraries and threads, but no other host."""
    return advising.wished(workload.with_options(question.options), question.workload, question.asked, facts)


def answered(wish: Wish, several: Sequence[Candidate]) -> Answer:
    """The answer from predictions. Of alternatives that differ in the sizes of their primes alone, and have equal
    predicted times, the first counts.
    """
    advice = advise(several, wish.limits, wish.objective)
    dominated = [item.index for item in advice.left_out if item.against == "dominated"]
    places = [*(point.index for point in advice.points), *dominated]
    distinct: dict[object, Candidate] = {}
    for place in places:
        distinct.setdefault(_likeness(several[place]), several[place])
    return Answer(wish, tuple(distinct.values()))


def _likeness(candidate: Candidate) -> object:
    """Equal for alternatives with the same program and time, whatever the sizes of their primes."""
    assert candidate.costs is not None
    chain, time = candidate.modulus_bits or (), candidate.costs.latency_s.value
    about = (
        candidate.variant,
        candidate.request.scheme,
        candidate.threads,
        candidate.ring_dimension,
        len(chain),
    )
    return (*about, candidate.request.tuning, tuple(sorted(candidate.options.items())), float(f"{time:.6g}"))


# --- The suite that measures them -------------------------------------------------------------------------------------


def experiments(answers: Sequence[Answer]) -> tuple[list[dict[str, Any]], list[list[int]]]:
    """An experiment for each alternative, those of several questions once; and their places by question."""
    places: dict[str, int] = {}
    several: list[dict[str, Any]] = []
    by_question: list[list[int]] = []
    for answer in answers:
        own = [advising.experiment(answer.wish, candidate) for candidate in answer.alternatives]
        for item in own:
            if places.setdefault(json.dumps(item), len(several)) == len(several):
                several.append(item)
        by_question.append([places[json.dumps(item)] for item in own])
    return several, by_question


# --- Measured alternatives --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Trial:
    """An alternative with its measured costs in place of the predicted ones; ``None`` if it has no correct result."""

    predicted: Candidate
    measured: Candidate | None

    @property
    def time(self) -> Quantity | None:
        """The measured time with its 95% interval."""
        costs = self.measured.costs if self.measured else None
        return costs.latency_s if costs else None


@dataclass(frozen=True, slots=True)
class Regret:
    """A question with its alternatives. ``best`` is the fastest measured one that meets the limits, if any does."""

    wish: Wish
    trials: tuple[Trial, ...]

    @property
    def first(self) -> Trial | None:
        """The first choice; ``None`` for an answer without any."""
        return next(iter(self.trials), None)

    @property
    def best(self) -> Trial | None:
        """See above."""
        able = [
            trial for trial in self.trials if trial.measured and not misses(trial.measured, self.wish.limits)
        ]
        return min(able, key=lambda trial: _time(trial).value, default=None)

    @property
    def is_within_limits(self) -> bool:
        """Whether the first choice meets the limits when measured."""
        own = self.first.measured if self.first else None
        return own is not None and not misses(own, self.wish.limits)

    @property
    def share(self) -> float | None:
        """The regret: the time of the first choice over that of the best, less one. ``None`` without both."""
        if self.first is None or self.first.time is None or self.best is None:
            return None
        times = {place: trial.time.value for place, trial in enumerate(self.trials) if trial.time}
        return regret([0], {0: times[0], self.trials.index(self.best): _time(self.best).value})

    @property
    def is_tie(self) -> bool:
        """Whether the intervals of the first choice and the best overlap."""
        if self.first is None or self.first.time is None or self.best is None:
            return False
        return self.first.time.low <= _time(self.best).high


def _time(trial: Trial) -> Quantity:
    assert trial.time is not None
    return trial.time


def trials(
    database: Database, run_id: str, answers: Sequence[Answer], keys: Sequence[Sequence[str]]
) -> list[Regret]:
    """The regret of each answer from a run, whose cases have these ``keys`` by question and alternative."""
    rows = {row["case_key"]: row for row in database.report("measured_costs", run_id=run_id)}
    return [
        Regret(
            answer.wish,
            tuple(
                Trial(candidate, _measured(candidate, rows[key], answer.wish) if key in rows else None)
                for candidate, key in zip(answer.alternatives, own, strict=True)
            ),
        )
        for answer, own in zip(answers, keys, strict=True)
    ]


def _measured(candidate: Candidate, row: Mapping[str, Any], wish: Wish) -> Candidate:
    """A candidate with the costs of its pass. A limit of the error is judged by the error that was found."""
    assert candidate.costs is not None
    link = wish.link
    transfer_s = 8 * (row["upload"] + row["download"]) / link.bandwidth if link.bandwidth else 0.0
    transfer_s += link.round_trip_s * len(wish.workload.server_stages)
    work = [row["work_s"], row["ci_low"] or row["work_s"], row["ci_high"] or row["work_s"]]
    error = row["max_error"]
    return replace(
        candidate,
        costs=replace(
            candidate.costs,
            latency_s=Quantity(*(value + transfer_s for value in work)),
            transfer_s=transfer_s,
            client_memory_bytes=row["client_peak_bytes"],
            server_memory_bytes=row["server_peak_bytes"],
            upload_bytes=row["upload"],
            download_bytes=row["download"],
            key_bytes=row["keys_size"] or 0.0,
            error=None if error is None else Quantity(error, error, error),
        ),
    )


# --- Tables -----------------------------------------------------------------------------------------------------------


def printed(results: Sequence[Regret]) -> Iterator[Printed]:
    """The regret of every question, the scores, and every alternative."""
    yield _scores(results)
    yield _questions(results)
    yield _alternatives(results)


def _scores(results: Sequence[Regret]) -> Printed:
    shares = [item.share for item in results if item.share is not None]
    heads = (
        "questions",
        "alternatives",
        "median",
        "worst",
        "within 5%",
        "tied with the best",
        "within all limits",
    )
    cells: tuple[str, ...] = ("",) * 2
    if shares:
        cells = (_percent(median(shares)), _percent(max(shares)))
    return Printed(
        "Regret of advice",
        "Time of the first choice over that of the fastest measured alternative within the limits, less one.",
        tuple(Head(name, is_number=True) for name in heads),
        (
            (
                str(len(results)),
                str(sum(len(item.trials) for item in results)),
                *cells,
                *(
                    f"{sum(marks)} of {len(results)}"
                    for marks in (
                        [item.share is not None and item.share <= _CLOSE for item in results],
                        [item.is_tie for item in results],
                        [item.is_within_limits for item in results],
                    )
                ),
            ),
        ),
        keys=0,
        explained="Time is that of all steps of both parties, with the transfer of the bytes over the question's link. "
        "Intervals are of 95%; a tie is an overlap of both.",
    )


def _questions(results: Sequence[Regret]) -> Printed:
    heads = (
        Head("question", is_prose=True, min_width=20),
        Head("alternatives", is_number=True, drop=2),
        Head("first choice", is_prose=True, min_width=16),
        Head("predicted", is_number=True, drop=1),
        Head("measured", is_number=True),
        Head("fastest measured", is_prose=True, min_width=16),
        Head("time", is_number=True),
        Head("regret", is_number=True),
    )
    return Printed("Questions", "", heads, tuple(_question(item) for item in results))


def _question(item: Regret) -> tuple[str, ...]:
    first, best, measured = item.first, item.best, sum(trial.measured is not None for trial in item.trials)
    about = f"{_name(item.wish)}; {_limits(item.wish)}".removesuffix("; ")
    if first is None:
        return (about, "0", "none", *("",) * 5)
    costs = first.predicted.costs
    assert costs is not None
    regret_text = (
        "not measured" if item.share is None else _percent(item.share) + (" (tie)" if item.is_tie else "")
    )
    missed = "" if item.is_within_limits or first.measured is None else f"; misses {_missed(item)}"
    return (
        about,
        str(measured) if measured == len(item.trials) else f"{measured} of {len(item.trials)}",
        words(first.predicted, item.wish),
        formats.brief_seconds(costs.latency_s.value),
        formats.brief_seconds(first.time.value if first.time else None),
        "none" if best is None else "the same" if best is first else words(best.predicted, item.wish),
        "" if best is None else formats.brief_seconds(_time(best).value),
        regret_text + missed,
    )


def _missed(item: Regret) -> str:
    assert item.first is not None
    assert item.first.measured is not None
    return ", ".join(LIMITS[miss.limit] for miss in misses(item.first.measured, item.wish.limits))


def _alternatives(results: Sequence[Regret]) -> Printed:
    heads = (
        Head("question", is_prose=True),
        Head("alternative", is_prose=True, min_width=24),
        Head("predicted", is_number=True),
        Head("80% interval", is_number=True, drop=2),
        Head("measured", is_number=True),
        Head("95% interval", is_number=True, drop=1),
        Head("error", is_number=True),
    )
    rows = tuple(
        (_name(item.wish), words(trial.predicted, item.wish), *_pair(trial))
        for item in results
        for trial in item.trials
    )
    return Printed("Every alternative", "In the order of advice: points first", heads, rows, keys=2)


def _pair(trial: Trial) -> tuple[str, ...]:
    costs, time = trial.predicted.costs, trial.time
    assert costs is not None
    own = costs.latency_s
    predicted = formats.time_with_interval(own.value, own.low, own.high)
    if time is None:
        return (*predicted, "not measured", "", "")
    bounds = (time.low, time.high) if time.low < time.high else (None, None)
    measured = formats.time_with_interval(time.value, *bounds)
    return (*predicted, *measured, f"{own.value / time.value - 1:+.1%}")


def words(candidate: Candidate, wish: Wish) -> str:
    """An alternative in a few words: what differs among those of a question."""
    spec, usual = candidate.request, to_case(wish.workload.options)
    chain = ", ".join(map(str, candidate.modulus_bits or ()))
    parts = [candidate.variant, spec.scheme.upper(), f"N = {candidate.ring_dimension}", f"{chain} bits"]
    if spec.tuning != "matched":
        parts.append(f"{spec.tuning} tuning")
    if candidate.threads > 1:
        parts.append(f"{candidate.threads} threads")
    parts += [f"{name} {value}" for name, value in candidate.options.items() if usual.get(name) != value]
    return ", ".join(parts)


def _name(wish: Wish) -> str:
    """The computation, with its options."""
    options = [f"{name} {value}" for name, value in to_case(wish.workload.options).items()]
    name = wish.name.rpartition(":")[2]
    return f"{name} ({', '.join(options)})" if options else name


def _limits(wish: Wish) -> str:
    """The limits of a question that differ from the usual ones, and the link."""
    own, texts = wish.limits, []
    usual = replace(Limits(), error=wish.workload.tolerance)
    for name, text in LIMITS.items():
        value = getattr(own, name, None)
        if value is None or value == getattr(usual, name):
            continue
        texts.append(", ".join(value) if isinstance(value, tuple) else _limit(name, text, value))
    link = wish.link.bandwidth
    texts.append("without a link" if link is None else f"{link / 1e6:g} Mbit/s")
    return ", ".join(texts)


def _limit(name: str, text: str, value: Any) -> str:
    if value is True:
        return text
    if name == "latency":
        return f"{text} {formats.brief_seconds(value)}"
    return f"{text} {formats.brief_size(value) if name in _SIZES else f'{value:g}'}"


_SIZES = ("client_memory", "server_memory", "upload", "download", "keys")


def _percent(value: float) -> str:
    return f"{value:.1%}"
