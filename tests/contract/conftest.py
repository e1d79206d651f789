"""Parametrises the suite: a test with ``variant`` (or ``adapter``) runs for every declared variant, one with
``scheme`` (or ``subject``, ``deep``) for every scheme of every variant; what is not installed is skipped with the
reason. A test with ``declaration`` needs no library. ``--variant NAME`` restricts the suite."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ciphermark_adapters import registry
from ciphermark_contract.declaration import Declaration
from ciphermark_contract.interfaces import Adapter
from ciphermark_core.model import Scheme

from . import harness
from .harness import Subject


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--variant",
        action="append",
        metavar="NAME",
        help="test this variant alone (may be repeated); other tests of the folder are left out",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "schemes(*names): run the test for these schemes only")
    config.addinivalue_line("markers", "variants(*names): run the test for these variants only")
    known = registry.declarations()
    unknown = [name for name in _asked(config) if name not in known]
    if unknown:
        raise pytest.UsageError(f"unknown variant {unknown[0]!r}; known variants: {', '.join(sorted(known))}")


def _asked(config: pytest.Config) -> list[str]:
    # The option exists only where the folder is named on the command line: pytest reads it before it collects.
    return config.getoption("--variant", default=None) or []


def _variants(config: pytest.Config) -> Iterator[Declaration]:
    known = registry.declarations()
    for name in _asked(config) or known:
        yield known[name]


def _variants_of(metafunc: pytest.Metafunc) -> Iterator[Declaration]:
    only = metafunc.definition.get_closest_marker("variants")
    return (item for item in _variants(metafunc.config) if only is None or item.variant in only.args)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    only = metafunc.definition.get_closest_marker("schemes")
    if "scheme" in metafunc.fixturenames:
        pairs = [
            pytest.param(declared.variant, scheme, id=f"{declared.variant}-{scheme}", marks=found)
            for declared in _variants_of(metafunc)
            for found in [harness.marks(declared.variant)]
            for scheme in declared.schemes
            if only is None or scheme in only.args
        ]
        metafunc.parametrize(("variant", "scheme"), pairs, scope="session")
    elif "variant" in metafunc.fixturenames:
        names = [
            pytest.param(declared.variant, id=declared.variant, marks=harness.marks(declared.variant))
            for declared in _variants_of(metafunc)
        ]
        metafunc.parametrize("variant", names, scope="session")
    elif "declaration" in metafunc.fixturenames:
        found = list(_variants_of(metafunc))
        metafunc.parametrize("declaration", found, ids=[item.variant for item in found])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With ``--variant``, leave out tests that are not about a variant."""
    if not _asked(config):
        return
    ours = [item for item in items if {"variant", "declaration"} & set(getattr(item, "fixturenames", ()))]
    config.hook.pytest_deselected(items=[item for item in items if item not in ours])
    items[:] = ours


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
