"""What rows of a table have in common is told in its heading, once; what they do not, row by row. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ciphermark_benchmark.formats import level
from ciphermark_db.comparison import short_level

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Trait:
    """A property of a row: as a heading tells it, and as a column has it, which may be less."""

    column: str
    told: Callable[[Row], str]
    cell: Callable[[Row], str]


RING = Trait("N", lambda row: f"N = {row['ring_dimension']}", lambda row: str(row["ring_dimension"]))
CHAIN = Trait(
    "log QP",
    lambda row: f"log2(QP) = {row['log_qp']:.0f} ({', '.join(map(str, row['modulus_bits']))})",
    lambda row: f"{row['log_qp']:.0f}",
)
LEVEL_2018 = Trait(
    "2018", lambda row: f"{level(row['security_2018'])} (2018)", lambda row: short_level(row["security_2018"])
)
LEVEL_2024 = Trait(
    "2024", lambda row: f"{level(row['security_2024'])} (2024)", lambda row: short_level(row["security_2024"])
)
PARAMETERS = (RING, CHAIN)
LEVELS = (LEVEL_2018, LEVEL_2024)


def is_shared(trait: Trait, rows: Sequence[Row]) -> bool:
    """Whether the column would have the same in all rows."""
    return len({trait.cell(row) for row in rows}) == 1


def heading(rows: Sequence[Row]) -> str:
    """Scheme, parameters and security of all rows; of what differs it says that the rows tell it."""
    first = rows[0]
    parameters = [_told(trait, rows) for trait in PARAMETERS if is_shared(trait, rows)]
    by_row = [] if len(parameters) == len(PARAMETERS) else ["parameters by row"]
    return " · ".join([first["scheme"], *parameters, f"security {levels(rows)}", *by_row])


def levels(rows: Sequence[Row]) -> str:
    """The security of all rows by both tables."""
    told = [trait.told(rows[0]) if is_shared(trait, rows) else f"by row ({trait.column})" for trait in LEVELS]
    return ", ".join(told)


def columns(rows: Sequence[Row]) -> list[Trait]:
    """The traits that the heading cannot tell."""
    return [trait for trait in (*PARAMETERS, *LEVELS) if not is_shared(trait, rows)]


def vector(rows: Sequence[Row]) -> str:
    """Data, values, ciphertexts and threads of all rows."""
    first = rows[0]
    counts = sorted({row["ciphertexts"] for row in rows})
    several = "–".join(map(str, dict.fromkeys((counts[0], counts[-1]))))
    sizes = sorted({row["size"] for row in rows})
    values = "–".join(map(str, dict.fromkeys((sizes[0], sizes[-1]))))
    if first.get("data_set"):  # workloads lay rows out in ciphertexts, each in its own way
        return f"{first['data_set']}, {values} values, {threads(first)}"
    ciphertexts = f"{several} ciphertext{'' if counts[-1] == 1 else 's'}"
    return f"{first['data_pattern']} data, {values} values in {ciphertexts}, {threads(first)}"


def threads(row: Row) -> str:
    """How many threads the library may use."""
    return "1 thread" if row["threads"] == 1 else f"{row['threads']} threads"


def _told(trait: Trait, rows: Sequence[Row]) -> str:
    told = {trait.told(row) for row in rows}
    return told.pop() if len(told) == 1 else f"{trait.column} = {trait.cell(rows[0])}, primes by library"
