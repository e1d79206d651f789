"""Which cells the suite has: for which variants, schemes and further values a test is collected.

A test says by marks what it takes, in the words of the declaration; of what a declaration rules out nothing is
collected. ``test_collection`` compares what is collected with what is declared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pytest

from ciphermark_contract.declaration import Declaration
from ciphermark_core.model import Scheme

# What must be so of a variant and scheme for a test to exist.
Condition: TypeAlias = Callable[["Cell"], bool]
# The operations that move a ciphertext down, by scheme.
SWITCHES: dict[Scheme, set[str]] = {"ckks": {"rescale"}, "bgv": {"mod_switch"}, "bfv": set()}

# What a build with Intel HEXL computes with kernels of its own: transforms and products, in every operation and
# program, and the bytes of what they yield. All else is the adapter's code, which the build without it has executed.
KERNELS = (
    "test_inner_products.py",
    "test_operations.py",
    "test_programs.py",
    "test_seal_sizes.py",
    "test_weighted_sums.py",
)


def executes(file: str, declared: Declaration, others: Iterable[Declaration]) -> bool:
    """Whether a file's tests are there for a variant: of one that differs from another in HEXL alone, few are."""
    is_second_build = declared.hexl and any(
        other.implementation == declared.implementation and not other.hexl for other in others
    )
    return not is_second_build or file in KERNELS


@dataclass(frozen=True, slots=True)
class Cell:
    """One variant in one scheme."""

    declared: Declaration
    scheme: Scheme

    @property
    def operations(self) -> tuple[str, ...]:
        return self.declared.operations[self.scheme]

    @property
    def managed(self) -> tuple[str, ...]:
        return self.declared.managed[self.scheme]


def where(condition: Condition) -> pytest.MarkDecorator:
    """Collect the test for cells of which this is so; several marks are all to be so."""
    return pytest.mark.where.with_args(condition)


def each(name: str, values: Callable[[Cell], Iterable[Any]]) -> pytest.MarkDecorator:
    """One more argument of the test, with the values that a cell has for it."""
    return pytest.mark.each.with_args(name, values)


def has(*operations: str) -> Condition:
    """All of these are primitives of the library."""
    return lambda cell: {*operations} <= {*cell.operations}


def has_managed(*operations: str) -> Condition:
    """All of these are among its managed operations."""
    return lambda cell: {*operations} <= {*cell.managed}


def is_driven_by_levels(cell: Cell) -> bool:
    """Whether a program that says at which level each operation is can be executed."""
    needed = {"relinearize"} | SWITCHES[cell.scheme]
    return needed <= {*cell.operations} and cell.declared.drives_levels(cell.scheme)


def has_threads(cell: Cell) -> bool:
    """Whether programs are executed by the library's own interpreter, on several threads."""
    return cell.declared.programs_have_threads


def has_keys(cell: Cell) -> bool:
    """Whether it is more than a pseudo-library, which encrypts nothing."""
    return not cell.declared.is_reference


def arguments(item: pytest.Function) -> tuple[str, ...]:
    """The names of what :func:`rows` yields."""
    further = item.get_closest_marker("each")
    return ("variant", "scheme") if further is None else ("variant", "scheme", further.args[0])


def rows(item: pytest.Function, declarations: Iterable[Declaration]) -> Iterator[tuple[Any, ...]]:
    """The cells of a test: variant, scheme, and the value of ``each`` where it has that."""
    further = item.get_closest_marker("each")
    for cell in _cells(item, declarations):
        place = (cell.declared.variant, cell.scheme)
        if further is None:
            yield place
        else:
            yield from ((*place, value) for value in further.args[1](cell))


def _cells(item: pytest.Function, declarations: Iterable[Declaration]) -> Iterator[Cell]:
    only = item.get_closest_marker("schemes")
    conditions: Sequence[Condition] = [mark.args[0] for mark in item.iter_markers("where")]
    for declared in declarations:
        for scheme in declared.schemes:
            cell = Cell(declared, scheme)
            if (only is None or scheme in only.args) and all(condition(cell) for condition in conditions):
                yield cell
