"""Tables in formats for people and for programs."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
import uuid
from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich.text import Text

from ciphermark_core.controls import visible
from ciphermark_core.errors import UserError
from ciphermark_present import markup, terminal
from ciphermark_present.console import Terminal
from ciphermark_present.printed import Head, Printed

if TYPE_CHECKING:  # a large module, not needed by commands that print without a database
    from ciphermark_db.database import Table

Format = Literal["table", "md", "latex", "csv", "json", "parquet"]
FORMAT_HELP = "Default: by the ending of --output, else a table."
OUTPUT_HELP = "File to write: .txt, .md, .tex, .csv, .json or .parquet."

_ENDINGS: dict[str, Format] = {
    ".txt": "table",
    ".md": "md",
    ".tex": "latex",
    ".csv": "csv",
    ".json": "json",
    ".parquet": "parquet",
}
STANDARD_OUTPUT = Path("-")
_WIDEST = 100_000  # no limit in files and pipes: one row per line


def form_of(chosen: Format | None, output: Path | None) -> Format:
    """The chosen format, else that of the file's ending. Raises ``UserError`` if the ending names none or contradicts
    the choice.
    """
    if output is None or output == STANDARD_OUTPUT:
        return chosen or "table"
    ending_format = _ENDINGS.get(output.suffix.lower())
    if chosen is None and ending_format is None:
        raise UserError(
            f"{output}: unknown ending {output.suffix!r}: use one of {', '.join(_ENDINGS)}, or --format"
        )
    if chosen is not None and ending_format not in (None, chosen):
        raise UserError(f"{output}: the ending {ending_format} contradicts --format {chosen}")
    return chosen or ending_format or "table"


def write_bytes(content: bytes, output: Path | None) -> None:
    """Write bytes to a file or standard output; raises ``UserError`` for a file that is not writable."""
    if output is not None and output != STANDARD_OUTPUT:
        try:
            output.write_bytes(content)
        except OSError as error:
            raise UserError(f"{output}: cannot write: {error.strerror}") from None
        return
    if sys.stdout.isatty():
        content = visible(content.decode(errors="replace")).encode()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def write(table: Table, form: Format, output: Path | None = None) -> None:
    """Write a table to a file or standard output; raises ``UserError`` on failure."""
    if form == "table" and output is None and sys.stdout.isatty():
        console = Terminal(highlight=False)
        for line in at_width(table, console.width):
            console.print(Text(line), soft_wrap=True)
        return
    if form == "parquet" and output is None and sys.stdout.isatty():
        raise UserError("parquet is binary: use --output FILE or a pipe")
    write_bytes(rendered(table, form), output)


def rendered(table: Table, form: Format) -> bytes:
    """The table as bytes of a format. Raises ``UserError`` if two columns share a name in a format that needs unique
    names.
    """
    if form == "csv":
        return _csv(table)
    if form == "json":
        _require_distinct(table.columns)
        rows = [dict(zip(table.columns, map(_json_ready, row), strict=True)) for row in table.rows]
        return (json.dumps(rows, allow_nan=False, indent=1) + "\n").encode()
    if form == "parquet":
        _require_distinct(table.columns)
        return _parquet(table)
    if form in markup.FORMATS:
        return markup.FORMATS[form]([_printed(table)]).encode()
    return "".join(f"{line}\n" for line in terminal.lines(_printed(table), _WIDEST)).encode()


def at_width(table: Table, width: int) -> Iterator[str]:
    """One line per row if all rows fit the width; else one line per value, row by row. Pure."""
    whole = list(terminal.lines(_printed(table), _WIDEST))
    if max(map(len, whole)) <= width:
        yield from whole
        return
    for number, row in enumerate(table.rows, 1):
        yield f"row {number}"
        yield from terminal.named(zip(table.columns, map(_short, row), strict=True), width, indent="  ")


def _printed(table: Table) -> Printed:
    heads = tuple(Head(name) for name in table.columns)
    return Printed("", "", heads, tuple(tuple(map(_short, row)) for row in table.rows))


def _require_distinct(columns: tuple[str, ...]) -> None:
    for name, count in Counter(columns).items():
        if count > 1:
            raise UserError(f"{count} columns are named {name!r}: rename them in the query with `as`")


def _csv(table: Table) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows([[_csv_value(value) for value in row] for row in table.rows])
    return text.getvalue().encode()


def _csv_value(value: Any) -> Any:
    """Lists are written as JSON; NULL is an empty field."""
    return json.dumps(_json_ready(value)) if isinstance(value, list | dict) else value


def _json_ready(value: Any) -> Any:
    """A value that JSON can represent; NaN and infinity become null."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float | Decimal):
        if not math.isfinite(value):
            return None
        return (
            int(value) if isinstance(value, Decimal) and value == value.to_integral_value() else float(value)
        )
    if isinstance(value, date | datetime):
        return value.isoformat()
    if isinstance(value, list):
        return [_json_ready(item) for item in value]
    if isinstance(value, dict):
        return {name: _json_ready(item) for name, item in value.items()}
    return str(value)


def _parquet(table: Table) -> bytes:
    import pyarrow as pa  # large, and needed only here
    import pyarrow.parquet as pq

    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.columns)
    arrays = {name: _arrow_column(pa, values) for name, values in zip(table.columns, columns, strict=True)}
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(arrays), sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _arrow_column(pa: Any, values: tuple[Any, ...]) -> Any:
    """A column of the type that Arrow infers; JSON text if no type fits all values."""
    ready = [str(value) if isinstance(value, uuid.UUID) else value for value in values]
    is_odd = any(isinstance(value, dict) for value in ready)
    try:
        return pa.array([_json_text(value) for value in ready] if is_odd else ready)
    except (pa.ArrowException, OverflowError, TypeError):
        return pa.array([_json_text(value) for value in ready])


def _json_text(value: Any) -> str | None:
    return None if value is None else json.dumps(_json_ready(value))


def _short(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list | dict):
        return json.dumps(_json_ready(value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)
