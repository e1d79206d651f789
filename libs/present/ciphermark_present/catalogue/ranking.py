"""The ranked variants of every case of a run: as tables, as a summary, and in sentences. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from ciphermark_analysis.comparison import TRAITS, differences
from ciphermark_analysis.ratios import Ratio
from ciphermark_analysis.wins import standings
from ciphermark_core import encryption
from ciphermark_present import formats, headings, subject
from ciphermark_present.catalogue import times
from ciphermark_present.catalogue.columns import (
    BUILD,
    DISTURBED,
    acceleration_marks,
    disturbance,
    phase_mark,
)
from ciphermark_present.figure import Layout
from ciphermark_present.listing import groups
from ciphermark_present.printed import Cells, Head, Pivot, Printed, Wanted, absent_last, grouped, of, present
from ciphermark_present.query import Row
from ciphermark_present.subject import Subject

UNPAIRED = "not interleaved"
MARKS = {"no difference": "≈", "too few samples": "?"}
_FASTEST = "Fastest: median time. Others: multiple of it."
MEANINGS = (
    "≈ no significant difference",
    "? too few samples",
    "* other parameters or not interleaved",
    DISTURBED,
)
_GAP = "   "  # between the meanings of marks
# Every experiment with phases is ranked here; consecutive operations have a table of their own.
_EVERY = Subject(subject.REPETITION.experiments, is_rest=True)
TIMES, SPEEDUPS = (
    replace(figure, subject=_EVERY, covers_levels=True) for figure in (times.LATENCY, times.SPEEDUP)
)
_SAME_TIME = ("case_key", "phase", "repetitions")
_ASKED = ("scheme", "tuning", "asked_ring_dimension")
_MEASURED = (
    *("scheme", "tuning", "experiment", "label", "phase", "repetitions"),
    *("vector_length", "data_pattern", "data_set", "threads"),
)
_VECTOR = ("data_pattern", "data_set", "threads")
_EVALUATE = "evaluate"
_CONSECUTIVE = "consecutive operations"
_ALONE = "stages of one library"
_COMPUTING = ".evaluate"  # a stage without this step runs on the client alone, and no library computes in it


def contests(answers: Sequence[Sequence[Row]], wanted: Wanted) -> list[list[Row]]:
    """The rows of each table; ``answers`` are those of :data:`FIGURES`."""
    return groups(RANKS, RANKING, answers, wanted)


def _joined(answers: Sequence[Sequence[Row]], _: Wanted) -> list[Row]:
    """Every rank with its time's interval and the HEXL speedup, and the parameters that distinguish tables: headings
    show the chain that a case resolved to.
    """
    ranks, timed, speedups = answers
    times_of = {tuple(row[name] for name in _SAME_TIME): row for row in timed}
    speedup_of = {
        (row["comparison_group"], row["variant_on"], row["phase"], row["repetitions"]): row
        for row in speedups
    }
    rows: list[Row] = []
    for row in ranks:
        own = times_of.get(tuple(row[name] for name in _SAME_TIME))
        if own is not None and row["rank"] is not None:
            place = (row["comparison_group"], row["variant"], row["phase"], row["repetitions"])
            uncorrected = {name: own.get(name) for name in own if name.startswith("uncorrected_")}
            bounds = {"low": own["ci_low"], "high": own["ci_high"], "ciphertexts": own["ciphertexts"]}
            bounds |= {"n": own["n"]}
            moduli = {"modulus_bits": own["modulus_bits"]}
            rows.append({**row, **bounds, **uncorrected, **moduli, "speedup": speedup_of.get(place)})
    chains: dict[str, Any] = {}
    for row in sorted(rows, key=lambda row: str(row["variant"])):
        chains.setdefault(row["comparison_group"], (row["ring_dimension"], tuple(row["modulus_bits"])))
    return [{**row, "chain": chains[row["comparison_group"]]} for row in rows]


def _order(row: Row) -> tuple[Any, ...]:
    count = absent_last(row["repetitions"], first=True)
    return row["experiment"], row["label"], count, row["vector_length"], row["comparison_group"], row["rank"]


def named(rows: Sequence[Row], _: Wanted | None = None) -> list[Cells]:
    """The columns that identify a row: the operation, and the vector length where lengths differ."""
    lengths: list[Cells] = [(Head("vector length", True), lambda row: f"{row['vector_length']:,}")]
    return [(Head("operation"), name), *lengths * (len({row["vector_length"] for row in rows}) > 1)]


def name(row: Row) -> str:
    """The operation, with the number of repetitions where there is one."""
    count = row["repetitions"]
    return str(row["label"]) if count is None else f"{row['label']} × {count}"


def _columns(rows: Sequence[Row], wanted: Wanted) -> Iterator[Cells]:
    yield from named(rows, wanted)
    yield of(BUILD)
    yield from headings.cells(rows)
    yield Head("median", True), lambda row: _time(row)[0]
    yield Head("95% interval", True, drop=1), lambda row: _time(row)[1]
    yield Head(f"× {wanted.baseline or 'fastest'}", True), _times_fastest
    yield Head("95% interval", True, drop=2), _ratio_interval
    optional: list[Cells] = [
        (Head("uncorrected", True, drop=3), _uncorrected),
        (Head("HEXL speedup", True, drop=4), lambda row: _hexl(row)[0]),
        (Head("95% interval", True, drop=5), lambda row: _hexl(row)[1]),
        (Head("parameters", is_prose=True), remark),
    ]
    yield from present(optional, rows)


def _time(row: Row) -> tuple[str, str]:
    time, interval = formats.time_with_interval(row["median"], row["low"], row["high"])
    return _disturbance(row) + time + phase_mark(row), interval


def _disturbance(row: Row) -> str:
    return disturbance(row["standing"] == "disturbed")


def _uncorrected(row: Row) -> str:
    """The median of the times without correction."""
    median = row.get("uncorrected_median")
    return "" if median is None else formats.brief_seconds(median)


def _times_fastest(row: Row) -> str:
    return formats.ratio(1.0 if row["rank"] == 1 else row["ratio"]) + phase_mark(row)


def _ratio_interval(row: Row) -> str:
    return "" if row["rank"] == 1 else formats.ratio_interval(row["ci_low"], row["ci_high"])


def _hexl(row: Row) -> tuple[str, str]:
    """The HEXL speedup, marked where its interval shows no difference, and the interval."""
    speedup = row["speedup"]
    if speedup is None:
        return "", ""
    mark = "≈" if speedup["verdict"] == "no difference" else ""
    bounds = formats.ratio_interval(speedup["ci_low"], speedup["ci_high"])
    return f"{mark}{formats.ratio(speedup['ratio'])}", bounds


def remark(row: Row) -> str:
    """The differences between the row and the fastest one, other than the variant, and whether they were not
    interleaved.
    """
    fastest = {name: row[f"fastest_{name}"] for name in TRAITS}
    return ", ".join(filter(None, (differences(row, fastest), "" if row["is_paired"] else UNPAIRED)))


def _line(row: Row) -> tuple[Any, ...]:
    """The properties that all variants of a line share."""
    return row["comparison_group"], row["phase"], name(row)


def _ranked_together(row: Row) -> tuple[Any, ...]:
    """The properties that all jointly ranked variants of a line share: see :mod:`ciphermark_core.encryption`."""
    stage, _, part = row["phase"].partition(".")
    return *_line(row), row["encryption"] if encryption.bears_on(stage, part) else None


def _cell(row: Row, _: Sequence[Row]) -> str:
    if row["rank"] == 1:
        return _disturbance(row) + formats.brief_seconds(row["median"]) + phase_mark(row)
    mark = _disturbance(row) or MARKS.get(row["verdict"], "")
    return f"{mark}{formats.ratio(row['ratio'])}{'*' if remark(row) else ''}{phase_mark(row)}"


def _paper_cell(row: Row, rows: Sequence[Row]) -> str:
    """The cell with the interval of its time or of its ratio."""
    bounds = _time(row)[1] if row["rank"] == 1 else _ratio_interval(row)
    return f"{_cell(row, rows)} {bounds}" if bounds.startswith("[") else _cell(row, rows)


def _by_mean(rows: Sequence[Row]) -> list[str]:
    """Variants in the order of the geometric mean of their ratios."""
    logs: dict[str, list[float]] = {}
    for row in rows:
        logs.setdefault(row["variant"], []).append(math.log(row["ratio"] or 1.0))
    return sorted(logs, key=lambda variant: (math.fsum(logs[variant]) / len(logs[variant]), variant))


def _timed(rows: Sequence[Row]) -> str:
    time = headings.time_of(rows[0]["phase"])
    return f"{time[0].upper()}{time[1:]}, {headings.vector(rows)}"


def _counts(rows: Sequence[Row]) -> str:
    """The number of samples of each time."""
    counts = sorted({row["n"] for row in rows})
    return f"{'–'.join(map(formats.count, dict.fromkeys((counts[0], counts[-1]))))} samples each"


def legend(tables: Sequence[Printed], width: int, baseline: str = "") -> list[str]:
    """The explanation of tables of :data:`OVERVIEW`: the meaning of cells, and of the marks that they have; joined into
    lines of at most ``width`` characters.
    """
    first, *meanings = _meanings(tables, baseline)
    lines = [first]
    for meaning in meanings:
        joined = f"{lines[-1]}{_GAP}{meaning}"
        if lines[-1] == first or len(joined) > width:
            lines.append(meaning)
        else:
            lines[-1] = joined
    return lines


def explained(table: Printed, baseline: str = "") -> Printed:
    """A table of :data:`PAPER` with the meanings of its cells and marks as its legend."""
    first, *meanings = _meanings([table], baseline)
    return replace(table, legend=(f"{first} Brackets: 95% interval", *meanings, *table.legend))


def _meanings(tables: Sequence[Printed], baseline: str) -> list[str]:
    """The meaning of cells, and of the marks that they have."""
    texts = [text for table in tables for row in table.rows for text in row[table.keys :]]
    first = f"{baseline}: median time. Others: multiple of it." if baseline else _FASTEST
    return [first, *(meaning for meaning in MEANINGS if any(meaning[0] in text for text in texts))]


def relative(ranks: Sequence[Row], ratios: Iterable[Ratio], is_uncorrected: bool = False) -> list[Row]:
    """The rows of a run's ranks with the multiples of another time than the fastest: those of ``ratios``. Rows without
    such a ratio are left out.
    """
    by_place = {(each.group, _phase(each), each.repetitions): each for each in ratios}
    rows_by_place = {(row["case_info_id"], row["phase"], row["repetitions"]): row for row in ranks}
    prefix = "uncorrected_" if is_uncorrected else ""
    rows: list[Row] = []
    for place, row in rows_by_place.items():
        ratio = by_place.get(place) or by_place.get((*place[:2], None))
        base = None if ratio is None else rows_by_place.get((ratio.base, *place[1:]))
        if ratio is None or base is None:
            continue
        own = {
            name: getattr(ratio, f"{prefix}{name}")
            for name in ("ratio", "ci_low", "ci_high", "verdict", "is_paired")
        }
        traits = {f"fastest_{name}": base[name] for name in ("variant", *TRAITS)}
        rows.append({**row, **own, **traits, "rank": ratio.rank})
    return rows


def _phase(ratio: Ratio) -> str:
    """The place of a ratio as rows name it."""
    part = ratio.step or ratio.party
    return f"{ratio.stage}.{part}" if part else ratio.stage


RANKING = Layout(
    others=(TIMES, SPEEDUPS),
    rows=_joined,
    table=(*_ASKED, *_VECTOR),
    is_recommended_mixed=True,
    varied=lambda row: (*(row[name] for name in _MEASURED), row["chain"]),
    order=_order,
    title="",
    about=lambda rows, _: _timed(rows),
    columns=_columns,
    once=lambda rows: len(named(rows)),
    place=10,
    needs_details=True,
)
OVERVIEW = replace(
    RANKING,
    columns=named,
    once=lambda rows: len(named(rows)) - 1,
    pivot=Pivot(_line, _cell, _by_mean, acceleration_marks, is_needed=lambda row: row["rank"] == 1),
    needs_details=False,
)
PAPER = replace(
    OVERVIEW,
    about=lambda rows, _: f"{_timed(rows)}, {_counts(rows)}",
    pivot=Pivot(_line, _paper_cell, _by_mean, acceleration_marks),
)
RANKS = replace(times.MATRIX, subject=_EVERY, printed=(RANKING, OVERVIEW), covers_levels=True)
FIGURES = (RANKS, TIMES, SPEEDUPS)
# Wins are counted at the top level, as on pages.
OF_PHASE = tuple(replace(figure, covers_levels=False) for figure in FIGURES)
OF_RUN = tuple(replace(figure, subject=subject.ANYTHING, where={}) for figure in OF_PHASE)


def of_run(answers: Sequence[Sequence[Row]], wanted: Wanted) -> Iterator[str]:
    """A line for each scheme, tuning and timed object: how often each variant wins, among cases with two variants or
    more, and the number of ties. ``answers`` are those of :data:`OF_RUN`, whatever their phase.
    """
    yield from _sentences([_computed(answer) for answer in answers], wanted)


def of_phase(answers: Sequence[Sequence[Row]], wanted: Wanted) -> Iterator[str]:
    """The same for one phase, without naming it; ``answers`` are those of :data:`OF_PHASE`."""
    yield from _sentences([[{**row, "what": ""} for row in answer] for answer in answers], wanted)


def timed(answer: Iterable[Row]) -> list[Row]:
    """The rows of an answer to one of :data:`OF_RUN` that reports show. Their labels name the timed object: an
    operation, with the number of consecutive ones, or the stage of a workload.
    """
    return [{**row, "label": _label(row)} for row in _computed(answer)]


def lead(line: Sequence[Row]) -> str | None:
    """The variant that wins a case, by the rows of its variants; ``None`` in a tie, or without a competitor."""
    fastest = next(index for index, row in enumerate(line) if row["rank"] == 1)
    is_disturbed = [row["standing"] == "disturbed" for row in line]
    standing = standings(fastest, [row["verdict"] for row in line], is_disturbed)[fastest]
    return str(line[fastest]["variant"]) if standing == "win" else None


def _sentences(answers: Sequence[Sequence[Row]], wanted: Wanted) -> Iterator[str]:
    lines = [line for same in contests(answers, wanted) for line in grouped(same, _ranked_together)]

    def contest(line: Sequence[Row]) -> tuple[Any, ...]:
        """The order of tables: matched tuning before recommended tuning."""
        return line[0]["scheme"], line[0]["tuning"] == "recommended", line[0]["what"]

    several = [(contest(same[0]), same) for same in grouped(sorted(lines, key=contest), contest)]
    groups = [[*chain(*(own for _, own in each))] for each in grouped(several, lambda one: _joint(*one))]
    names = [_contest_name(*_joint(contest(same[0]), same)) for same in groups]
    verdicts = list(map(_verdict, groups))
    name_width = max(map(len, names), default=0)
    most = max((count for count, _ in verdicts), default=0)
    for name, (count, outcome) in zip(names, verdicts, strict=True):
        noun = "case:" if count == 1 else "cases:"
        yield f"{name:<{name_width}}  {count:>{len(str(most))}} {noun:<{len('cases:') - (most == 1)}} {outcome}"


def _joint(contest: tuple[Any, ...], lines: Sequence[Sequence[Row]]) -> tuple[Any, ...]:
    """The contest; one for all stages of a scheme and tuning in which there is nothing to compare."""
    *place, what = contest
    is_alone = what not in ("", _CONSECUTIVE) and not any(map(_is_contested, lines))
    return (*place, _ALONE if is_alone else what)


def _is_contested(line: Sequence[Row]) -> bool:
    return len({row["variant"] for row in line}) > 1


def _contest_name(scheme: str, is_recommended: bool, what: str) -> str:
    is_stage = what not in ("", _CONSECUTIVE)  # tuning concerns single operations
    tuning = "recommended" if is_recommended else "" if is_stage else "matched"
    return ", ".join(filter(None, (scheme.upper(), tuning, what)))


def _computed(answer: Iterable[Row]) -> list[Row]:
    """The rows with the timed object as ``what``. Phases within a timed stage or outside the evaluation are left out,
    and so are stages in which no library computes.
    """
    rows = list(answer)
    computed = {(row["comparison_group"], row["phase"]) for row in rows}
    timings: list[Row] = []
    for row in rows:
        is_workload = subject.WORKLOAD.covers(row["experiment"])
        if is_workload and (row["comparison_group"], f"{row['phase']}{_COMPUTING}") in computed:
            timings.append({**row, "what": row["phase"]})
        elif not is_workload and row["phase"] == _EVALUATE:
            timings.append(
                {**row, "what": _CONSECUTIVE if subject.REPETITION.covers(row["experiment"]) else ""}
            )
    return timings


def _label(row: Row) -> str:
    labelled = {**row, "label": row.get("label", row["operation"])}
    return f"{row['operation']}, {row['phase']}" if row["phase"] == row["what"] else name(labelled)


def _verdict(lines: Sequence[Sequence[Row]]) -> tuple[int, str]:
    """The number of cases with two variants or more, the number of these that each variant wins, and the number of
    ties.
    """
    contested = list(filter(_is_contested, lines))
    if not contested:
        alone = sorted({row["variant"] for line in lines for row in line})
        each = "only" if len(alone) == 1 else "each with one of"
        return len(lines), f"nothing to compare, {each} {', '.join(alone)}"
    leads = [lead(line) for line in contested]
    counts = Counter(variant for variant in leads if variant is not None).most_common()
    wins = [
        f"{variant}{'' if place else ' fastest'} in {count}" for place, (variant, count) in enumerate(counts)
    ]
    ties = leads.count(None)
    outcomes = [", ".join(wins)] * bool(wins) + [f"{ties} tie{'' if ties == 1 else 's'}"] * bool(ties)
    return len(contested), "; ".join(outcomes)
