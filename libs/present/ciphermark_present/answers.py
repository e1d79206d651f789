"""The best library for a computation: the runs and cases that answer the question, the words, and the certainty.

``cases`` are rows of the block ``overview_cases``, ``ranks`` of ``overview_ranks``, ``metrics`` of
``overview_metrics``. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ciphermark_core.security import OLDEST
from ciphermark_present import formats
from ciphermark_present.query import Row
from ciphermark_present.questions import words
from ciphermark_present.ratio_axis import THRESHOLD
from ciphermark_present.subject import OPERATION

SCHEMES = ("ckks", "bfv", "bgv")  # the order in which schemes are offered
_LEVEL = 128
_RING_DIMENSION = 8192  # of an operation's representative case, where there are several
_ENOUGH = 2  # variants to compare
_NEAR = 1.05  # a smaller ratio counts as the same memory or size
_LOWEST = 128  # the lowest level of the tables, in bits

_SAME_COMPUTATION = (
    *("run_id", "operation", "scheme", "stage", "table_of_level", "level", "tuning", "is_composite"),
    *("data_set", "vector_length", "data_pattern", "threads"),
)

Certainty = Literal["sure", "tie", "not sure", "not compared"]
Part = tuple[str, bool]  # of a sentence: a text, and whether it is emphasized
Sentence = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """The subject of a question: a computation in a scheme, at a security level of a table."""

    operation: str
    scheme: str
    table: str
    level: int


@dataclass(frozen=True, slots=True)
class Question:
    """A question, with the alternatives to each of its parts; ``let_go`` are requested values that no run has."""

    place: Place
    operations: Sequence[str]
    schemes: Sequence[str]
    levels: Sequence[tuple[str, int]]
    let_go: Sequence[str] = ()


def question(
    cases: Sequence[Row], runs: Sequence[str], given: Mapping[str, str], preferred_run: str = ""
) -> Question | None:
    """The question that ``given`` asks; ``None`` without cases. Missing parts come from the preferred run, else from
    the first run that compares libraries. ``given`` has texts by ``for`` (the computation), ``scheme``, ``table`` and
    ``security``.
    """
    if not cases:
        return None
    let_go: list[str] = []

    def chosen(name: str, there: Sequence[str], default: Callable[[], str]) -> str:
        asked = given.get(name, "")
        if asked and asked not in there:
            let_go.append(asked)
        return asked if asked in there else default()

    def own(rows: Sequence[Row]) -> Sequence[Row]:
        return [row for row in rows if row["run_id"] == preferred_run] or rows

    operations = sorted({row["operation"] for row in cases}, key=lambda name: (words(name).place, name))
    scheme = given.get("scheme", "")
    in_scheme = [row for row in cases if row["scheme"] == scheme] or cases
    operation = chosen("for", operations, lambda: _first_operation(own(in_scheme), runs))
    here = [row for row in cases if row["operation"] == operation]
    schemes = _in_order({row["scheme"] for row in here})
    scheme = chosen("scheme", schemes, lambda: _in_order({row["scheme"] for row in own(here)})[0])
    here = [row for row in here if row["scheme"] == scheme]
    levels = _levels(here)
    is_level_given = bool(given.get("table") or given.get("security"))
    of_run = levels if is_level_given else _levels(own(here))
    place = (operation, scheme, *_level(of_run, given, _requested(own(here), runs), let_go))
    return Question(Place(*place), operations, schemes, levels, let_go)


def _first_operation(cases: Sequence[Row], runs: Sequence[str]) -> str:
    """The computation of the first run that compares libraries: a workload rather than an operation."""
    compared = [row for row in cases if row["variants"] >= _ENOUGH] or cases

    def place(row: Row) -> tuple[object, ...]:
        rank = SCHEMES.index(row["scheme"]) if row["scheme"] in SCHEMES else len(SCHEMES)
        return (
            runs.index(row["run_id"]),
            is_operation(row),
            rank,
            words(row["operation"]).place,
            row["operation"],
        )

    return str(min(compared, key=place)["operation"])


def _in_order(schemes: Iterable[str]) -> list[str]:
    return sorted(schemes, key=lambda name: (SCHEMES.index(name) if name in SCHEMES else len(SCHEMES), name))


def _levels(cases: Iterable[Row]) -> list[tuple[str, int]]:
    return sorted({(row["table_of_level"], row["level"]) for row in cases})


def _requested(cases: Sequence[Row], runs: Sequence[str]) -> str:
    """The table by which the first run of these cases requested its level."""
    return str(min(cases, key=lambda row: runs.index(row["run_id"]))["security_table"] or OLDEST)


def _level(
    levels: Sequence[tuple[str, int]], given: Mapping[str, str], table: str, let_go: list[str]
) -> tuple[str, int]:
    """The table and the level: by default 128 bits or the next level above, else the highest."""
    asked = (given.get("table") or table, given.get("security", ""))
    of_table = [each for each in levels if each[0] == asked[0]] or list(levels)
    exact = [each for each in of_table if str(each[1]) == asked[1]]
    if asked[1] and not exact:
        let_go.append(f"{asked[1]} bits")
    enough = [each for each in of_table if each[1] >= _LEVEL]
    return (exact or enough[:1] or of_table[-1:])[0]


def is_operation(row: Row) -> bool:
    """Whether a case is a single operation, rather than a workload."""
    return OPERATION.covers(row["experiment"])


def case_for(cases: Iterable[Row], runs: Sequence[str], place: Place, preferred_run: str = "") -> Row | None:
    """The representative case of a computation, of the preferred run, else of the first run that compares libraries. It
    has the usual conditions (matched tuning, random data, one thread, one ciphertext), then the most libraries.
    """
    here = [
        row
        for row in cases
        if (row["operation"], row["scheme"], row["table_of_level"], row["level"])
        == (place.operation, place.scheme, place.table, place.level)
    ]

    def order(row: Row) -> tuple[object, ...]:
        return (
            row["run_id"] != preferred_run,
            row["variants"] < _ENOUGH,
            runs.index(row["run_id"]),
            row["is_composite"],
            row["tuning"] != "matched",
            row["data_pattern"] not in (None, "random"),
            row["threads"] != 1,
            row["ciphertexts"] > 1 and is_operation(row),
            -row["variants"],
            abs(math.log2(row["ring_dimension"] / _RING_DIMENSION)),
            -row["vector_length"],
            row["comparison_group"],
        )

    return min(here, key=order, default=None)


def beside(cases: Iterable[Row], case: Row) -> list[Row]:
    """The cases of the same run with the same computation on the same data, in other comparison groups: they include
    libraries that need other parameters. For an operation, only cases with the same ring dimension: its time depends on
    that.
    """
    same = [*_SAME_COMPUTATION, *(["ring_dimension"] if is_operation(case) else [])]
    return [
        row
        for row in cases
        if row["comparison_group"] != case["comparison_group"]
        and all(row[name] == case[name] for name in same)
    ]


@dataclass(frozen=True, slots=True)
class Standing:
    """A library in the answer: its ratio to the fastest with its interval, its parameters, and its other measures.

    ``is_tied``: no significant difference from the fastest. ``is_hollow``: its parameters differ, or it was not
    interleaved. ``differing`` names the parameters that differ from the fastest one's. ``upload`` is the client's part
    of the bytes of a workload.
    """

    row: Row
    is_first: bool
    is_tied: bool
    is_hollow: bool
    differing: frozenset[str]
    memory: float | None = None
    size: float | None = None
    upload: float | None = None
    quality: float | None = None

    @property
    def variant(self) -> str:
        """Its name."""
        return str(self.row["variant"])

    @property
    def time(self) -> float:
        """The median, in seconds."""
        return float(self.row["median_s"])

    @property
    def ratio(self) -> float:
        """Multiple of the fastest time."""
        return float(self.row["ratio"] or 1.0)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% interval of the ratio; ``None`` for the fastest, and where there are too few samples."""
        low, high = self.row["ci_low"], self.row["ci_high"]
        return None if self.is_first or low is None or high is None else (low, high)


def standings(ranks: Sequence[Row], elsewhere: Sequence[Row] = ()) -> list[Standing]:
    """The libraries of one case, the fastest first; those with disturbed samples only come last. Libraries that the
    case lacks come from the cases ``elsewhere``, compared by their medians alone. If one of these is the fastest, all
    are compared with it by their medians.
    """
    own = {row["variant"] for row in ranks}
    apart: dict[str, Row] = {}
    for row in sorted(elsewhere, key=lambda row: float(row["median_s"])):
        if row["variant"] not in own:
            apart.setdefault(row["variant"], row)
    first = min(ranks, key=_order)
    fastest = min((first, *apart.values()), key=_order_by_median)
    if fastest is not first:
        others = [_by_median(row, fastest) for row in (*ranks, *apart.values()) if row is not fastest]
    else:
        others = [row for row in ranks if row is not first]
        others += [_by_median(row, first) for row in apart.values()]
    return [_standing(row, fastest) for row in (fastest, *sorted(others, key=_order))]


def with_metrics(libraries: Sequence[Standing], metrics: Sequence[Row]) -> list[Standing]:
    """The libraries with their memory, bytes and quality: those of the stage, and of the server where there are
    parties. Sizes cover all objects sent in both directions; for an operation, one ciphertext.
    """
    values = _values([each.row for each in libraries], metrics)
    own = [(each, values[each.row["case_info_id"]]) for each in libraries]
    return [
        replace(
            each,
            memory=of_it.get("memory"),
            size=of_it.get("size"),
            upload=of_it.get("upload"),
            quality=of_it.get("quality"),
        )
        for each, of_it in own
    ]


def _order(row: Row) -> tuple[Any, ...]:
    return row["standing"] == "disturbed", row["ratio"] or 1.0, row["median_s"], row["variant"]


def _order_by_median(row: Row) -> tuple[Any, ...]:
    return row["standing"] == "disturbed", row["median_s"], row["variant"]


def _by_median(row: Row, first: Row) -> Row:
    """A row of a case, compared with the fastest one of another case."""
    ratio = row["median_s"] / first["median_s"]
    standing = "tie" if ratio <= THRESHOLD else "behind"
    if row["standing"] == "disturbed":
        standing = row["standing"]
    compared = {"ratio": ratio, "ci_low": None, "ci_high": None, "standing": standing, "is_paired": False}
    return {**row, **compared}


def _standing(row: Row, first: Row) -> Standing:
    is_first = row is first
    differing = {
        name for name in ("ring_dimension", "log_qp") if round(row[name] or 0) != round(first[name] or 0)
    }
    return Standing(
        row,
        is_first,
        not is_first and row["standing"] == "tie",
        not is_first and not (row["is_paired"] and row["is_equal_parameters"]),
        frozenset(differing),
    )


def _values(ranks: Sequence[Row], metrics: Sequence[Row]) -> dict[int, dict[str, float]]:
    """Memory, bytes and quality by case."""
    stages = {row["case_info_id"]: row["stage"] for row in ranks}
    values: dict[int, dict[str, float]] = {case: {} for case in stages}
    for row in metrics:
        own, name = values.get(row["case_info_id"]), row["metric"]
        if own is None or row["stage"] not in (stages[row["case_info_id"]], "dump"):
            continue
        if name == "peak_memory" and row["party"] in (None, "server"):
            own["memory"] = row["median"]
        elif name == "size":
            own["size"] = own.get("size", 0.0) + row["median"]
            if row["stage"] != "dump" and row["step"] is None:
                own["upload"] = own.get("upload", 0.0) + row["median"]
        elif name in ("noise_budget", "precision", "agreement"):
            own["quality"] = row["median"]
    return values


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer in words: the sentence, its certainty with the reason, and further facts for the decision."""

    headline: Sentence
    certainty: Certainty
    reason: Sentence
    facts: Sequence[Sentence] = ()


def answer(libraries: Sequence[Standing]) -> Answer:
    """The answer from the libraries of a case, the fastest first."""
    first, *others = libraries
    ties = [each for each in others if each.is_tied]
    behind = [each for each in others if not each.is_tied]
    time, name = seconds(first.time), _name(first)
    facts = tuple(_facts(libraries))
    if not others:
        return Answer((*_text("Only "), name, *_text(f" was measured: {time}.")), "not compared", (), facts)
    if not ties:
        next_one = behind[0]
        is_sure = not _are_apart(behind)
        verb = " is the fastest: " if is_sure else " has the fastest median, "
        headline = (name, *_text(f"{verb}{time}; "), _name(next_one))
        headline += _text(f" takes {times(next_one.ratio)} as long.")
        if is_sure:
            return Answer(headline, "sure", _surely(next_one), facts)
        return Answer(headline, "not sure", _apart(behind), facts)
    names = _names(ties)
    if all(map(_is_within, ties)):
        headline = (*_names([first, *ties]), *_text(f" are equally fast: {time}."))
        return Answer(
            headline,
            "tie",
            (*_text("Within the significance threshold of 5%: "), *_measured(ties), *_text(".")),
            facts,
        )
    headline = (name, *_text(f" has the fastest median, {time}; "), *names, *_text(" may be as fast."))
    return Answer(headline, "not sure", _unsurely(ties), facts)


def _is_within(library: Standing) -> bool:
    """Whether its interval shows that it is as fast as the fastest."""
    interval = library.interval
    return interval is not None and interval[0] >= 1 / THRESHOLD and interval[1] <= THRESHOLD


def _surely(library: Standing) -> Sentence:
    if library.interval is None:
        return _text("Ratio of medians; there are too few samples for an interval.")
    return (
        *_text("The 95% interval of "),
        _name(library),
        *_text(f", {interval(library.interval)}, lies beyond the significance threshold of 5%."),
    )


def _unsurely(ties: Sequence[Standing]) -> Sentence:
    apart = [each for each in ties if not each.row["is_paired"]]
    if len(apart) == len(ties):
        return _apart(apart)
    with_interval = [each for each in ties if each.interval is not None and not _is_within(each)]
    if not with_interval:
        return (*_text("There are too few samples for an interval of "), *_names(ties), *_text("."))
    verb = " reaches" if len(with_interval) == 1 else " reach"
    noun = "The 95% interval of " if len(with_interval) == 1 else "The 95% intervals of "
    return (*_text(noun), *_measured(with_interval), *_text(f"{verb} the threshold of 5%."))


def _are_apart(others: Sequence[Standing]) -> bool:
    """Whether none of them was interleaved with the fastest, or has an interval."""
    return all(each.is_hollow and each.interval is None for each in others)


def _apart(libraries: Sequence[Standing]) -> Sentence:
    return (*_text("Not interleaved: "), *_measured(libraries), *_text(" by medians alone."))


def _measured(libraries: Sequence[Standing]) -> Sentence:
    """Names with ratios and intervals."""
    parts: list[Sentence] = [
        (
            _name(each),
            *_text(f", {times(each.ratio)}" + (f" {interval(each.interval)}," if each.interval else ",")),
        )
        for each in libraries
    ]
    return _joined([part[:-1] + _text(part[-1][0].removesuffix(",")) for part in parts])


def _facts(libraries: Sequence[Standing]) -> Iterable[Sentence]:
    memory = [each for each in libraries if each.memory]
    if len(memory) > 1:
        lowest = _lowest(memory, lambda each: each.memory or 0.0)
        yield _best("Lowest memory: ", lowest, len(memory), size(lowest[0].memory or 0))
    sizes = [each for each in libraries if each.size]
    if len(sizes) > 1:
        lowest = _lowest(sizes, lambda each: each.size or 0.0)
        lead = "Smallest ciphertext: " if is_operation(libraries[0].row) else "Fewest bytes sent: "
        upload = lowest[0].upload
        part = f" ({size(upload)} up)" if upload else ""
        yield _best(lead, lowest, len(sizes), size(lowest[0].size or 0) + part)
    newest = [each for each in libraries if (each.row["security_2024"] or 0) >= _LOWEST]
    if newest and len(newest) < len(libraries):
        verb = "reaches" if len(newest) == 1 else "reach"
        yield (*_text("Only "), *_names(newest), *_text(f" also {verb} 128 bits by the guidelines (2024)."))


def _best(lead: str, lowest: Sequence[Standing], all_of_them: int, value: str) -> Sentence:
    if len(lowest) == all_of_them:
        return _text(f"{lead}{value} for all {all_of_them}.")
    return (*_text(lead), *_names(lowest), *_text(f", {value}."))


def _lowest(libraries: Sequence[Standing], value: Callable[[Standing], float]) -> list[Standing]:
    """The libraries with the minimum, or hardly more."""
    least = min(map(value, libraries))
    return sorted((each for each in libraries if value(each) <= least * _NEAR), key=value)


def wins(every: Iterable[Sequence[Standing]]) -> str:
    """The number of computations, of several, in which each library is fastest beyond doubt."""
    compared = [libraries for libraries in every if len(libraries) > 1]
    counts: dict[str, int] = {}
    ties = 0
    for first, *others in compared:
        if any(each.is_tied for each in others):
            ties += 1
        elif not _are_apart(others):
            counts[first.variant] = counts.get(first.variant, 0) + 1
    if not compared:
        return ""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    if not ordered:
        return f"None of {len(compared)} has a clear winner."
    (best, count), *next_ones = ordered
    rest = "".join(f", {name} in {number}" for name, number in next_ones)
    undecided = f"; {ties} {'tie' if ties == 1 else 'ties'}" if ties else ""
    return f"{best} is fastest in {count} of {len(compared)}{rest}{undecided}."


def seconds(value: float) -> str:
    """A time with three significant digits, trailing zeros kept."""
    number, unit = formats.duration(value)
    return f"{_three(float(number))} {unit}"


def size(value: float) -> str:
    """Bytes with three significant digits, trailing zeros kept."""
    number, unit = formats.bytes_with_unit(value)
    return f"{_three(number) if unit != 'B' else formats.digits(number)} {unit}"


def times(value: float) -> str:
    """A ratio with three significant digits."""
    return f"{_three(value)}×"


def interval(bounds: tuple[float, float]) -> str:
    """Both ends of an interval."""
    return f"[{_three(bounds[0])}, {_three(bounds[1])}]"


def _three(value: float) -> str:
    """Three significant digits: ``1.00``, ``12.0``, ``345``, ``1,230``."""
    if value >= 999.5:
        return f"{value:,.0f}"
    digits = 2 - math.floor(math.log10(float(f"{value:.3g}"))) if value > 0 else 2
    return f"{value:.{max(0, digits)}f}"


def _text(text: str) -> Sentence:
    return ((text, False),)


def _name(library: Standing) -> Part:
    return library.variant, True


def _names(libraries: Sequence[Standing]) -> Sentence:
    return _joined([(_name(each),) for each in libraries])


def _joined(parts: Sequence[Sentence]) -> Sentence:
    """An enumeration: a, b and c."""
    *before, last = parts
    if not before:
        return last
    listed = [part for each in before[1:] for part in (*_text(", "), *each)]
    return (*before[0], *listed, *_text(" and "), *last)


def plain(sentence: Sentence) -> str:
    """A sentence as text."""
    return "".join(text for text, _ in sentence)
