"""Parametrises the suite: a test with ``variant`` (or ``adapter``) is there for every variant that is installed, one
with ``scheme`` (or ``subject``, ``deep``) for every scheme of every such variant that its marks take: see ``cells``.
What another interpreter loads is executed there: see ``elsewhere``. A test with ``declaration`` needs no library,
and is there for all that are declared. ``--variant NAME`` restricts the suite."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import installed
import pytest

from ciphermark_adapters import registry
from ciphermark_contract.declaration import Declaration
from ciphermark_contract.interfaces import Adapter
from ciphermark_core.model import Scheme

from . import cells, elsewhere, harness
from .harness import Subject

FOLDER = Path(__file__).parent
# Seconds each, for what another cell covers: the circuits of workloads are executed by one library in full, and its
# operations one by one by every library. `make test-all` has them.
LONG = re.compile(
    "|".join(
        (
            r"test_a_network_in_whole_numbers\[((?!cleartext)[\w-]+-digits(-encrypted)?\]|openfhe|pyfhel)",
            r"test_digits_in_all_slots\[seal-(bfv-8192|ckks-1024)",
            r"test_by_a_number_as_keyword\[(openfhe|pyfhel)-bfv-constant-weight-pir-published",
            r"test_micro\.py::test_small\[tenseal-ckks-(logistic|sign)\]",
            r"test_digits\[(pyfhel|openfhe|lattigo)-ckks-digits",
            r"test_digits\[helib-ckks-digits(-encrypted)?\]",
            r"test_workloads\.py::test_small\[tenseal-(bfv|ckks)-(lmc-per-row|lr-fixed)",
            r"test_full_size\[seal-(lmc-per-row-(plain|encrypted)|lr-k5-encrypted)-ckks",
            r"test_full_size\[seal-lr-fixed-encrypted-bgv",
            r"test_micro\.py::test_small\[(pyfhel|openfhe|lattigo|helib)-ckks-(logistic|sign)-published",
            # Sizes that the workload deals with, whatever the library.
            r"test_retrieval\.py::test_small\[(?!seal-|cleartext-)[\w-]+ (one byte|one full block|longest|chunks)\]",
            # HElib decodes BGV at large rings in seconds; its operations are tried at a small one.
            r"test_the_plaintext_modulus_is_honoured\[helib-bgv-(40961|65537)\]",
            r"test_a_computation_is_correct\[helib-bgv-whole",
            # Deep or long ones once, with SEAL.
            r"test_a_computation_is_correct\[(?!seal-|cleartext-)[\w-]+-(threshold|long_vector)\]",
        )
    )
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--variant",
        action="append",
        metavar="NAME",
        help="test this variant alone (may be repeated); other tests of the folder are left out",
    )
    parser.addoption(
        "--outcomes", metavar="FILE", help="write a line of JSON for each test as soon as it has ended"
    )


def pytest_configure(config: pytest.Config) -> None:
    for line in (
        "schemes(*names): run the test for these schemes only",
        "variants(*names): run the test for these variants only",
        "where(condition): run the test for cells of which this is so",
        "each(name, values): one more argument, with the values that a cell has for it",
        "no_cell: no variant has what the test takes; it is left out",
    ):
        config.addinivalue_line("markers", line)
    known = registry.declarations()
    unknown = [name for name in _asked(config) if name not in known]
    if unknown:
        raise pytest.UsageError(f"unknown variant {unknown[0]!r}; known variants: {', '.join(sorted(known))}")
    outcomes = config.getoption("--outcomes", default=None)
    if outcomes is not None:
        config.pluginmanager.register(elsewhere.Teller(outcomes))


def pytest_unconfigure(config: pytest.Config) -> None:
    elsewhere.close(config)


def _asked(config: pytest.Config) -> list[str]:
    # The option exists only where the folder is named on the command line: pytest reads it before it collects.
    return config.getoption("--variant", default=None) or []


def _declarations(metafunc: pytest.Metafunc) -> list[Declaration]:
    """Of the variants that are asked for, those that the test takes."""
    known = registry.declarations()
    only = metafunc.definition.get_closest_marker("variants")
    names = _asked(metafunc.config) or known
    return [known[name] for name in names if only is None or name in only.args]


@cache
def _is_installed(variant: str) -> bool:
    return installed.absence(variant) is None


@cache
def _is_loadable_here(variant: str) -> bool:
    return registry.is_loadable_here(variant)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    declarations = _declarations(metafunc)
    if "declaration" in metafunc.fixturenames:
        metafunc.parametrize("declaration", declarations, ids=[item.variant for item in declarations])
        return
    file, known = metafunc.definition.path.name, registry.declarations().values()
    installed = [
        item for item in declarations if _is_installed(item.variant) and cells.executes(file, item, known)
    ]
    if "scheme" in metafunc.fixturenames:
        _parametrize(
            metafunc, cells.arguments(metafunc.definition), [*cells.rows(metafunc.definition, installed)]
        )
    elif "variant" in metafunc.fixturenames:
        _parametrize(metafunc, ("variant",), [(item.variant,) for item in installed])


def _parametrize(metafunc: pytest.Metafunc, names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    """One test for each row; where there is none, pytest would report a skip: a mark has the test left out."""
    sets = [pytest.param(*row, id="-".join(map(str, row))) for row in rows]
    nothing = pytest.param(*(None for _ in names), id="no cell", marks=pytest.mark.no_cell)
    metafunc.parametrize(names, sets or [nothing], scope="session")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With ``--variant``, leave out tests that are not about a variant."""
    items[:] = [item for item in items if item.get_closest_marker("no_cell") is None]
    for item in items:
        if LONG.search(item.nodeid):
            item.add_marker(pytest.mark.extended)
    if _asked(config):
        ours = [item for item in items if {"variant", "declaration"} & set(getattr(item, "fixturenames", ()))]
        config.hook.pytest_deselected(items=[item for item in items if item not in ours])
        items[:] = ours
    items[:] = [_placed(item) for item in items]


def _placed(item: pytest.Item) -> pytest.Item:
    """The test itself, or what stands for it where another interpreter executes it."""
    if FOLDER not in item.path.parents or not isinstance(item, pytest.Function):
        return item
    variant = item.callspec.params.get("variant") if hasattr(item, "callspec") else None
    if variant is None or _is_loadable_here(variant):
        return item
    return elsewhere.Elsewhere.of(item, variant)


@pytest.fixture(scope="session")
def adapter(variant: str) -> Adapter:
    return harness.adapter(variant)


@pytest.fixture(scope="session")
def subject(variant: str, scheme: Scheme) -> Subject:
    """A small ring with all keys."""
    return harness.subject(variant, harness.SPECS[scheme])


@pytest.fixture(scope="session")
def deep(variant: str, scheme: Scheme) -> Subject:
    """The same, but two ckks multiplications deep."""
    return harness.subject(variant, harness.DEEP_SPECS[scheme])
