"""Headings of tables: a heading states the values that all rows share, once; rows state the others. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ciphermark_present import formats
from ciphermark_present.catalogue.columns import (
    LOG_QP,
    OF_LIBRARY,
    SECURITY_2018,
    SECURITY_2024,
    N,
    differing,
)
from ciphermark_present.figure import Column
from ciphermark_present.parameters import MESSAGE, told
from ciphermark_present.printed import Cells, of
from ciphermark_present.query import Row

_TIMES = {
    "keygen": "key generation time",
    "encrypt": "encryption time",
    "evaluate": "evaluation time",
    "decrypt": "decryption time",
}
PARAMETERS = (N, LOG_QP)
LEVELS = (SECURITY_2018, SECURITY_2024)
_DROP = 10  # a narrow terminal has no room for the parameters of all rows: values are more important


def is_shared(column: Column, rows: Sequence[Row]) -> bool:
    """Whether the column would have the same text in all rows."""
    return len({column.brief_cell(row) for row in rows}) == 1


def heading(rows: Sequence[Row]) -> str:
    """Scheme, the parameters that all rows share, their security, and the words that distinguish their case from those
    of other tables.
    """
    parameters = [_told(column, rows) for column in PARAMETERS if is_shared(column, rows)]
    about = ", ".join(filter(None, [rows[0]["scheme"].upper(), *parameters, message(rows)]))
    return f"{about}. Security: {levels(rows)}"


def message(rows: Sequence[Row]) -> str:
    """The encoding parameters of all rows' messages, and the words that distinguish their case from those of other
    tables.
    """
    texts = [told(row, MESSAGE) for row in rows] + [rows[0].get("apart", "")]
    return ", ".join(dict.fromkeys(part for text in texts for part in text.split(", ") if part))


def levels(rows: Sequence[Row]) -> str:
    """The security of all rows by both tables; for each table, every level of the rows, the highest first."""
    return ", ".join(f"{_levels(rows, column.name)} ({column.short})" for column in LEVELS)


def _levels(rows: Sequence[Row], name: str) -> str:
    levels = sorted(
        {row[name] for row in rows}, key=lambda level: -1 if level is None else level, reverse=True
    )
    return " or ".join(map(formats.security, levels))


def columns(rows: Sequence[Row]) -> list[Column]:
    """The columns that the heading cannot state."""
    own = [column for column in (*PARAMETERS, *LEVELS) if not is_shared(column, rows)]
    return [*own, *differing(OF_LIBRARY, rows)]


def cells(rows: Sequence[Row]) -> list[Cells]:
    """Its columns where there is little room: the first ones that a narrow table loses."""
    return [of(column, _DROP) for column in columns(rows)]


def time_of(phase: str) -> str:
    """The name of the time of a phase."""
    return _TIMES.get(phase, f"time of stage {phase}")


def vector(rows: Sequence[Row]) -> str:
    """Data, values, ciphertexts and threads of all rows, and the tuning where it is not matched."""
    return ", ".join([_vector(rows)] + ["recommended tuning"] * (rows[0].get("tuning") == "recommended"))


def _vector(rows: Sequence[Row]) -> str:
    first = rows[0]
    counts = sorted({row["ciphertexts"] for row in rows})
    several = "–".join(map(formats.count, dict.fromkeys((counts[0], counts[-1]))))
    sizes = sorted({row["vector_length"] for row in rows})
    values = "–".join(map(formats.count, dict.fromkeys((sizes[0], sizes[-1]))))
    if first.get("data_set"):  # workloads lay rows out in ciphertexts, each in its own way
        return f"{first['data_set']}, {values} values, {threads(first)}"
    ciphertexts = f"{several} ciphertext{'' if counts[-1] == 1 else 's'}{_executed(rows)}"
    return f"{values} {first['data_pattern']} values in {ciphertexts}, {threads(first)}"


def _executed(rows: Sequence[Row]) -> str:
    """The number of executed ciphertexts of a long vector, where the total is extrapolated from these."""
    counts = sorted({row["executed_ciphertexts"] for row in rows if row.get("executed_ciphertexts")})
    several = "–".join(map(str, dict.fromkeys(counts[:1] + counts[-1:])))
    return f" (timed on {several} of them)" if counts else ""


def threads(row: Row) -> str:
    """The number of threads that the library may use."""
    return "1 thread" if row["threads"] == 1 else f"{row['threads']} threads"


def _told(column: Column, rows: Sequence[Row]) -> str:
    texts = {_heading(column, row) for row in rows}
    return texts.pop() if len(texts) == 1 else f"{texts.pop().partition(' (')[0]} (primes by library)"


def _heading(column: Column, row: Row) -> str:
    return column.heading(row) if column.heading else column.brief_cell(row)
