"""The table of workloads: what each stage costs with each variant, and how good the result is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ciphermark_benchmark import table_headings
from ciphermark_benchmark.formats import NOTHING, digits, quantity
from ciphermark_db.gateway import Database
from ciphermark_db.reports import report
from ciphermark_workloads.catalogue import WORKLOADS

Row = Mapping[str, Any]

_EXPLAINED = (
    "median times of one pass; train in the clear is the client's; mse: of the predicted classes; agree: rows that do, "
    "with the plaintext run of the same algorithm; noise: largest difference of scores from what should come out; "
    "rounding: likewise of that from the plaintext run; expansion: of the rows by encryption; sent: ciphertexts of one "
    "pass to the server; CPU: of the party by wall time of the stage; peak: memory of the party; serialization: both "
    "parties'; transfer: messages, blobs and waiting"
)
_STAGES = ("prepare", "train", "infer")
_COLUMNS = (*_STAGES, "accuracy", "mse", "agree", "noise", "rounding", "expansion", "sent")
_COSTS = (
    *("time", "client CPU", "client peak", "server CPU", "server peak"),
    *("serialization", "transfer"),
)
_PLACE = itemgetter("operation", "data_set", "threads", "scheme")


def show(console: Console, database: Database, run_id: str, any_security: bool) -> bool:
    """Print the workloads of a run, two tables per workload, data set, threads, scheme and security level by the 2018
    table, or of all levels with ``any_security``: the results by variant, and the costs by stage. False without any.
    """
    rows = report(database, "learning", run_id=run_id, any_security=any_security)
    costs = {
        (row["stage"], row["case_key"], row["variant"]): row
        for row in report(database, "learning_stages", run_id=run_id)
    }
    for _, group in groupby(rows, key=lambda row: (_PLACE(row), any_security or row["security_2018"])):
        table = list(group)
        first = table[0]
        told = f"{table_headings.heading(table)} · {table_headings.threads(first)}"
        title = f"{_title(first['operation'])} · {first['data_set']}"
        console.print(f"\n[bold]{title}[/bold]\n{told}", soft_wrap=True)
        console.print(_table(table))
        console.print()
        console.print(_costs(table, costs))
    if rows:
        console.print(f"\n{_EXPLAINED}", soft_wrap=True)
    return bool(rows)


def _title(name: str) -> str:
    known = WORKLOADS.get(name)  # a run of another version may have had others
    return name if known is None else f"{name}: {known.title}"


def _table(rows: Sequence[Row]) -> Table:
    own = table_headings.columns(rows)
    figures = [_figures(row) for row in rows]
    told = [place for place in range(len(_COLUMNS)) if any(line[place] != NOTHING for line in figures)]
    table = _empty("variant", *(trait.column for trait in own), *(_COLUMNS[place] for place in told))
    for row, line in zip(rows, figures, strict=True):
        cells = (*(trait.cell(row) for trait in own), *(line[place] for place in told))
        table.add_row(escape(row["variant"]), *cells)
    return table


def _costs(rows: Sequence[Row], costs: Mapping[tuple[str, str, str], Row]) -> Table:
    """Stage by stage, the variants in the order of ``rows``; the name of a stage stands in its first row."""
    table = _empty("stage", "variant", *_COSTS)
    for stage in _STAGES:
        told = [costs.get((stage, row["case_key"], row["variant"])) for row in rows]
        found = [row for row in told if row is not None]
        for row in found:
            table.add_row(stage if row is found[0] else "", escape(row["variant"]), *_spent(row))
    return table


def _empty(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in columns:
        table.add_column(name, justify="left" if name in {"stage", "variant"} else "right", no_wrap=True)
    return table


def _figures(row: Row) -> list[str]:
    return [
        *(quantity(row[f"{name}_s"], "s") for name in _STAGES),
        _share(row["accuracy"]),
        digits(row["mse"]) or NOTHING,
        _share(row["agreement"]),
        _error(row["noise_error"]),
        _error(row["rounding_error"]),
        f"{digits(row['expansion'])} ×",
        quantity(row["sent_bytes"], "bytes"),
    ]


def _spent(row: Row) -> list[str]:
    return [
        quantity(row["time_s"], "s"),
        *(
            cell
            for party in ("client", "server")
            for cell in (_share(row[f"{party}_cpu"], 0), quantity(row[f"{party}_peak_bytes"], "bytes"))
        ),
        *(quantity(row[f"{name}_s"], "s") for name in ("serialization", "transfer")),
    ]


def _share(value: float | None, decimals: int = 1) -> str:
    return NOTHING if value is None else f"{value:.{decimals}%}"


def _error(value: float | None) -> str:
    """A relative error of any size: an exact result has none."""
    if value is None:
        return NOTHING
    return f"{value:.1e}" if value else "0"
