"""Declarations are complete, and the loaded library is the declared one."""

from __future__ import annotations

import os
from typing import get_args

import installed
import pytest

from ciphermark_adapters import registry
from ciphermark_contract.declaration import GENERATED, KEY_ITEMS, SEEDED_ITEMS, Declaration
from ciphermark_contract.interfaces import Adapter
from ciphermark_contract.operations import OPERATIONS, of_scheme, where
from ciphermark_core.model import Scheme

METHODS = ("noise_budget_bits", "dump_plaintext")


def test_it_speaks_the_words_of_the_contract(declaration: Declaration) -> None:
    assert declaration.schemes
    assert {*declaration.operations} <= {*get_args(Scheme)}
    assert {*declaration.manages_levels} <= {*declaration.operations}
    for scheme in declaration.schemes:
        assert {*declaration.operations[scheme]} <= {*OPERATIONS}
        assert len({*declaration.operations[scheme]}) == len(declaration.operations[scheme])
    assert declaration.compressions
    assert {*declaration.serializable} <= {*KEY_ITEMS}
    assert {*declaration.generates} <= {*GENERATED}
    assert {*declaration.seeded} <= {*SEEDED_ITEMS}
    assert {*declaration.reasons} <= {*OPERATIONS, *METHODS, *GENERATED, *KEY_ITEMS, *SEEDED_ITEMS}
    assert not {*declaration.reasons} & {
        *declaration.generates,
        *declaration.serializable,
        *declaration.seeded,
    }


def test_what_is_several_primitives_by_its_meaning_is_composed_for_nobody(declaration: Declaration) -> None:
    assert {*declaration.composite} <= {*OPERATIONS}
    assert not {name for name in declaration.composite if OPERATIONS[name].is_sequence}
    offered = {name for names in declaration.operations.values() for name in names}
    sequences = {*where(lambda row: row.is_sequence)} & offered
    assert {*sequences} <= {*declaration.notes} or declaration.is_reference, "say which calls it is made of"


def test_everything_missing_has_a_written_reason(declaration: Declaration) -> None:
    operations = {name for names in declaration.operations.values() for name in names}
    for scheme in declaration.schemes:
        for name in {*of_scheme(scheme)} - {*declaration.operations[scheme]}:
            reason = declaration.reasons.get(name, "") or OPERATIONS[name].absence
            assert reason.strip(), f"no reason why {scheme} has no {name}"
    unneeded = {name for name in declaration.reasons if name in operations} - {
        name for scheme, names in declaration.operations.items() for name in {*of_scheme(scheme)} - {*names}
    }
    assert not unneeded, f"reasons against what every scheme has: {unneeded}"


def test_what_is_not_installed_can_be(declaration: Declaration) -> None:
    module, _, name = declaration.implementation.partition(":")
    assert module
    assert name
    assert declaration.license
    assert declaration.remedy


def test_it_is_tested(declaration: Declaration) -> None:
    """Of a library that is not installed nothing else is collected: this says so, once."""
    reason = installed.absence(declaration.variant)
    if reason is not None:
        pytest.skip(reason)
    assert os.access(registry.interpreter(declaration.variant), os.X_OK)


def test_the_library_tells_its_version_and_build(variant: str, adapter: Adapter) -> None:
    info = adapter.info()
    assert info.variant == variant
    assert info.version[:1].isdigit(), f"the version is {info.version!r}"
    assert info.build, "no build facts"
    assert all(isinstance(text, str) and text.strip() for text in info.build.values()), info.build
    assert not info.is_debug, "a debug build: its times mean nothing"


def test_the_library_is_the_declared_one(variant: str, adapter: Adapter) -> None:
    declared, info = registry.declaration(variant), adapter.info()
    assert (info.library, info.hexl) == (declared.library, declared.hexl)
