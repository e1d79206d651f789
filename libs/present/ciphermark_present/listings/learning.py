"""What each stage of a workload of learning costs with each variant, and how good the result is. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ciphermark_present import formats, parameters
from ciphermark_present.catalogue.columns import VARIANT
from ciphermark_present.catalogue.learning import COSTS, LEARNING, QUALITY, STAGES
from ciphermark_present.listings import headings
from ciphermark_present.listings.printed import Head, Printed, absent_last, grouped, of, present, printed
from ciphermark_present.query import Row

FIGURES = (LEARNING, STAGES)
_EXPLAINED = (
    "median times of one pass",
    "train in the clear is the client's",
    "agree: rows whose class is that of the plaintext run of the same algorithm",
    "noise: largest difference of scores from what should come out",
    "sent: ciphertexts of one pass to the server",
)
_OF_DETAILS = (
    "mse: of the predicted classes",
    "rounding: largest difference of what should come out from the plaintext run",
    "expansion: of the rows by encryption",
    "CPU: of the party by wall time of the stage",
    "peak: memory of the party",
    "serialization: both parties'",
    "transfer: messages, blobs and waiting",
)
_MORE = ("mse", "rounding_error", "expansion")  # of the results, for those who look closely
_PLACE = ("operation", "options", "data_set", "threads", "scheme")


def tables(
    answers: Sequence[Sequence[Row]], any_security: bool, titles: Mapping[str, str], has_stages: bool = True
) -> Iterator[Printed]:
    """Two tables per workload, options, data set, threads, scheme and security level by the 2018 table, or of all
    levels with ``any_security``: the results by variant, and the costs by stage; without ``has_stages`` the first
    alone, with what a reader in a hurry asks for. ``answers`` are those of :data:`FIGURES`; ``titles`` tell workloads
    in words.
    """
    results, stages = answers
    ok = parameters.with_apart(
        [row for row in results if row["status"] == "ok"],
        lambda row: (_table(row, any_security), row["ring_dimension"]),
    )
    rows = sorted(
        ok, key=lambda row: (_group(row, any_security), absent_last(row["infer_s"]), row["variant"])
    )
    costs = {(row["stage"], row["case_key"]): row for row in stages}
    names = list(dict.fromkeys(row["stage"] for row in stages))
    made: list[Printed] = []
    for same in grouped(rows, lambda row: _group(row, any_security)):
        first = same[0]
        given = filter(None, (_title(first["operation"], titles), first["options"], first["data_set"]))
        title = " · ".join(given)
        about = f"{headings.heading(same)} · {headings.threads(first)}"
        own = [
            costs[name, row["case_key"]] for name in names for row in same if (name, row["case_key"]) in costs
        ]
        made += [_results(title, about, same, has_stages), *[_costs(own)] * has_stages]
    yield from made[:-1]
    explained = "; ".join((*_EXPLAINED, *(_OF_DETAILS if has_stages else ())))
    yield from (replace(table, explained=explained) for table in made[-1:])


def _title(name: str, titles: Mapping[str, str]) -> str:
    return (
        f"{name}: {titles[name]}" if name in titles else name
    )  # a run of another version may have had others


def _group(row: Row, any_security: bool) -> tuple[Any, ...]:
    return _table(row, any_security), row["apart"]


def _table(row: Row, any_security: bool) -> tuple[Any, ...]:
    level = None if any_security or row["security_2018"] is None else -row["security_2018"]
    return (*absent_last(*(row[name] for name in _PLACE)), *absent_last(level))


def _results(title: str, about: str, rows: Sequence[Row], has_all: bool) -> Printed:
    wanted = [column for column in QUALITY if has_all or column.name not in _MORE]
    told = present(map(of, wanted), rows, nothing=(formats.NOTHING,))
    return printed(title, about, [of(VARIANT), *map(of, headings.columns(rows)), *told], rows)


def _costs(rows: Sequence[Row]) -> Printed:
    """Stage by stage, the variants in the order of ``rows``; the name of a stage stands in its first row."""
    columns = [(Head("stage"), lambda row: str(row["stage"])), of(VARIANT), *map(of, COSTS)]
    return printed("", "", columns, rows, once=1)
