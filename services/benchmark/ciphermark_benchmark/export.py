"""Tables in the forms that people and programs read."""

from __future__ import annotations

import csv
import io
import json
import sys
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from ciphermark_core.errors import UserError
from ciphermark_db.gateway import Table

Format = Literal["table", "csv", "json", "parquet"]


def write(table: Table, form: Format, output: Path | None = None) -> None:
    """Write a table to a file or standard output; raises ``UserError`` where that cannot be."""
    if form == "table" and output is None:
        Console().print(_pretty(table))
        return
    content = rendered(table, form)
    try:
        if output is not None:
            output.write_bytes(content)
            return
    except OSError as error:
        raise UserError(f"{output}: cannot write: {error.strerror}") from None
    if form == "parquet" and sys.stdout.isatty():
        raise UserError("parquet is no text: name a file with --output, or pipe it somewhere")
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def rendered(table: Table, form: Format) -> bytes:
    """The table as bytes of a form."""
    if form == "csv":
        return _csv(table)
    if form == "json":
        rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
        return (json.dumps(rows, default=_json_value, indent=1) + "\n").encode()
    if form == "parquet":
        return _parquet(table)
    console = Console(file=io.StringIO(), width=200)
    with console.capture() as capture:
        console.print(_pretty(table))
    return capture.get().encode()


def _csv(table: Table) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows([[_csv_value(value) for value in row] for row in table.rows])
    return text.getvalue().encode()


def _csv_value(value: Any) -> Any:
    """Lists are written as JSON; NULL is an empty field."""
    return json.dumps(value, default=_json_value) if isinstance(value, list | dict) else value


def _json_value(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, date | datetime):
        return value.isoformat()
    return str(value)


def _parquet(table: Table) -> bytes:
    import pyarrow as pa  # heavy, and only needed here
    import pyarrow.parquet as pq

    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.columns)
    arrays = {name: _arrow_ready(values) for name, values in zip(table.columns, columns, strict=True)}
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(arrays), sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _arrow_ready(values: tuple[Any, ...]) -> list[Any]:
    """Values that Arrow has a type for: UUIDs and the like become text, JSON objects JSON."""
    return [
        json.dumps(value, default=_json_value)
        if isinstance(value, dict)
        else value
        if value is None or isinstance(value, bool | int | float | str | list | date | datetime | Decimal)
        else str(value)
        for value in values
    ]


def _pretty(table: Table) -> RichTable:
    pretty = RichTable(box=None, pad_edge=False)
    for name in table.columns:
        pretty.add_column(name, overflow="fold")
    for row in table.rows:
        pretty.add_row(*[Text(_short(value)) for value in row])
    return pretty


def _short(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
