"""The data sets of this package, and the reader of a user's own: CSV text with a header and numbers, the label last."""

from __future__ import annotations

import csv
import hashlib
import io
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, TypeAlias

import numpy as np

from ciphermark_circuits.layout import Floats
from ciphermark_core.errors import UserError

LabelRule: TypeAlias = Literal["binary", "median"]
MAX_BYTES = 16 * 1024 * 1024
MAX_ROWS = 100_000
MAX_COLUMNS = 1024
FEWEST_ROWS = 10
_LONGEST_STEM = 40
_DIGITS = 8
LARGEST = 1e100  # sums of its squares over all rows stay far below the largest float


@dataclass(frozen=True, slots=True)
class DataSet:
    """Rows of a table: ``features`` of shape (rows, columns), ``labels`` of shape (rows,), each 0.0 or 1.0."""

    name: str
    columns: tuple[str, ...]
    features: Floats
    labels: Floats


@dataclass(frozen=True, slots=True)
class UserDataSet:
    """A user's data set: its CSV with a label of two values, ``digest`` its SHA-256, and its size."""

    data: bytes
    digest: str
    rows: int
    features: int

    def called(self, stem: str) -> str:
        """Its name in results: ``mine@3b5d12ab``. Equal names imply equal content, regardless of the file's folder."""
        return named(stem, self.digest)


def named(stem: str, digest: str) -> str:
    """The name in results of content with a SHA-256, after the file's stem. Pure."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("._-")[:_LONGEST_STEM] or "data"
    return f"{plain}@{digest[:_DIGITS]}"


def take(data: bytes, origin: str, rule: LabelRule = "binary") -> UserDataSet:
    """Check a user's CSV; ``origin`` is its name in error messages.

    With the rule ``median`` the result has labels 0 and 1: the rule is a part of the content. Raises ``UserError`` as
    :func:`read` does.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise UserError(f"{origin}: byte {error.start} is not UTF-8: save the file as UTF-8") from None
    written, data_set = _two_classes(text, origin, rule)
    content = written.encode()
    return UserDataSet(content, hashlib.sha256(content).hexdigest(), *data_set.features.shape)


def read(text: str, name: str, rule: LabelRule = "binary") -> DataSet:
    """The data set in CSV text.

    The first line names the columns. The last column is the label. With the rule ``binary`` it has two different
    values, of which the larger is class 1; with ``median`` values above its median are class 1. Raises ``UserError``
    with line and column of a fault.
    """
    size = len(text.encode())
    if size > MAX_BYTES:
        raise UserError(f"{name}: {size} bytes are too many: at most {MAX_BYTES} are read: use fewer rows")
    lines = _lines(text.removeprefix("\ufeff"), name)
    _, header = next(lines, (1, []))
    columns = _header(header, name)
    table = np.array(_rows(lines, columns, name))
    if len(table) < FEWEST_ROWS:
        raise UserError(f"{name}: {len(table)} rows are too few, {FEWEST_ROWS} are the least")
    return DataSet(name, columns[:-1], table[:, :-1], _labels(table[:, -1], columns[-1], name, rule))


def _two_classes(text: str, name: str, rule: LabelRule) -> tuple[str, DataSet]:
    """The data set, and its CSV text as the rule ``binary`` reads it: with ``median``, labels are written as 0 and 1.

    The text alone thus defines the data set. Raises ``UserError`` as :func:`read` does.
    """
    data_set = read(text, name, rule)
    if rule == "binary":
        return text, data_set
    (_, header), *rows = _lines(text.removeprefix("\ufeff"), name)
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(
        [*fields[:-1], f"{label:.0f}"] for (_, fields), label in zip(rows, data_set.labels, strict=True)
    )
    return written.getvalue(), data_set


def _lines(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and fields of lines that are not empty."""
    lines = csv.reader(io.StringIO(text), strict=True)
    try:
        for fields in lines:
            if fields:
                yield lines.line_num, fields
    except csv.Error as error:
        raise UserError(f"{name}, line {lines.line_num}: {error}: write plain CSV") from error


def _header(fields: list[str], name: str) -> tuple[str, ...]:
    columns = tuple(field.strip() for field in fields)
    if len(columns) < 2:
        raise UserError(
            f"{name}, line 1: a header of two columns or more is needed, the label last, separated by commas"
        )
    if len(columns) > MAX_COLUMNS:
        raise UserError(f"{name}, line 1: {len(columns)} columns are too many, {MAX_COLUMNS} are the most")
    for number, column in enumerate(columns, 1):
        if not column:
            raise UserError(f"{name}, line 1: column {number} has no name: give it one")
        if columns.index(column) < number - 1:
            raise UserError(f"{name}, line 1: two columns are named {column!r}: name one of them otherwise")
        if _number(column) is not None:
            raise UserError(
                f"{name}, line 1: {column!r} is a number where a column's name is expected: put a line of names first"
            )
    return columns


def _rows(lines: Iterator[tuple[int, list[str]]], columns: tuple[str, ...], name: str) -> list[list[float]]:
    rows: list[list[float]] = []
    for line, fields in lines:
        if len(fields) != len(columns):
            raise UserError(
                f"{name}, line {line}: {len(fields)} fields, but the header names {len(columns)} columns"
            )
        if len(rows) == MAX_ROWS:
            raise UserError(f"{name}, line {line}: {MAX_ROWS} rows are the most: use fewer")
        rows.append(
            [
                _checked(field, f"{name}, line {line}, column {column!r}")
                for field, column in zip(fields, columns, strict=True)
            ]
        )
    return rows


def _checked(field: str, place: str) -> float:
    value = _number(field)
    if value is None:
        raise UserError(
            f"{place}: {field!r} is not a finite number: correct it, or omit the row or the column"
        )
    if abs(value) > LARGEST:
        raise UserError(
            f"{place}: {field} is too large, {LARGEST:g} is the most: write the column in a larger unit"
        )
    return value


def _number(field: str) -> float | None:
    try:
        value = float(field)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _labels(values: Floats, column: str, name: str, rule: LabelRule) -> Floats:
    distinct = np.unique(values)
    if len(distinct) < 2:
        raise UserError(f"{name}, column {column!r}: all labels are {distinct[0]}: two classes are needed")
    if rule == "median":
        is_above = values > np.median(values)
        if not is_above.any():
            raise UserError(f"{name}, column {column!r}: no label is above the median: use the rule binary")
        return np.where(is_above, 1.0, 0.0)
    if len(distinct) > 2:
        raise UserError(
            f"{name}, column {column!r}: {len(distinct)} different labels, but the rule binary takes two: write 0 and "
            "1, or use the rule median (label: median)"
        )
    labels: Floats = np.where(values == distinct[1], 1.0, 0.0)
    return labels


@cache
def boston() -> DataSet:
    """Boston Housing: 506 census tracts, 13 features; class 1 where homes cost more than the median."""
    return read(_shipped("boston.csv"), "boston", "median")


@cache
def breast_cancer() -> DataSet:
    """Breast Cancer Wisconsin (Diagnostic): 569 tumours, 30 features; class 1 is benign."""
    return read(_shipped("breast_cancer.csv"), "breast-cancer", "binary")


@cache
def synthetic() -> DataSet:
    """1,280 rows of 9 correlated normal features, labels drawn by a logistic model; of the split, 1,024 are to train.

    As many as the infant-mortality table that CryptOracle trains on, which is not shipped.
    """
    random, shape = np.random.default_rng(0), (1280, 9)
    features = random.standard_normal(shape)
    features[:, 1:] += features[:, :-1] / 2
    weights = random.standard_normal(shape[1])
    labels = random.uniform(size=shape[0]) < 1 / (1 + np.exp(-(features @ weights)))
    columns = tuple(f"x{number}" for number in range(1, shape[1] + 1))
    return DataSet("synthetic", columns, features, labels.astype(np.float64))


DATA_SETS: Mapping[str, Callable[[], DataSet]] = {
    "boston": boston,
    "breast-cancer": breast_cancer,
    "synthetic": synthetic,
}


def _shipped(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")
