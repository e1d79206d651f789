"""The table of workloads: what each stage costs with each variant, and how good the result is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ciphermark_benchmark import traits
from ciphermark_benchmark.formats import NOTHING, digits, quantity
from ciphermark_circuits.workloads import WORKLOADS
from ciphermark_db.gateway import Database
from ciphermark_db.reports import report

Row = Mapping[str, Any]

_EXPLAINED = (
    "median times of one pass; agreement: with the plaintext run of the same algorithm, row by row; "
    "expansion: of the rows by encryption; sent: ciphertexts of one pass to the server"
)
_COLUMNS = (
    *("prepare", "train", "infer", "accuracy", "agreement", "expansion"),
    *("sent", "client", "server"),
)
_PLACE = itemgetter("operation", "data_set", "threads", "scheme")


def show(console: Console, database: Database, run_id: str, any_security: bool) -> bool:
    """Print the workloads of a run, one table per workload, data set, threads, scheme and security level by the 2018
    table, or of all levels with ``any_security``; False without any.
    """
    rows = report(database, "learning", run_id=run_id, any_security=any_security)
    for _, group in groupby(rows, key=lambda row: (_PLACE(row), any_security or row["security_2018"])):
        table = list(group)
        first = table[0]
        told = f"{traits.heading(table)} · {traits.threads(first)}"
        title = f"{_title(first['operation'])} · {first['data_set']}"
        console.print(f"\n[bold]{title}[/bold]\n{told}", soft_wrap=True)
        console.print(_table(table))
    if rows:
        console.print(_EXPLAINED, soft_wrap=True)
    return bool(rows)


def _title(name: str) -> str:
    known = WORKLOADS.get(name)  # a run of another version may have had others
    return name if known is None else f"{name}: {known.title}"


def _table(rows: Sequence[Row]) -> Table:
    own = traits.columns(rows)
    table = Table(box=None, pad_edge=False)
    table.add_column("variant", no_wrap=True)
    for name in (*(trait.column for trait in own), *_COLUMNS):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(escape(row["variant"]), *(trait.cell(row) for trait in own), *_figures(row))
    return table


def _figures(row: Row) -> list[str]:
    return [
        *(quantity(row[f"{name}_s"], "s") for name in ("prepare", "train", "infer")),
        _share(row["accuracy"]),
        _share(row["agreement"]),
        f"{digits(row['expansion'])} ×",
        *(quantity(row[f"{name}_bytes"], "bytes") for name in ("sent", "client_peak", "server_peak")),
    ]


def _share(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.1%}"
