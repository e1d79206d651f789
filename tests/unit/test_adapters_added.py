"""Builds that were added are variants; what of theirs has changed since is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from ciphermark_adapters import added, binaries, interpreters, registry
from ciphermark_adapters.added import AddedBuild


@pytest.fixture
def data_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(added.PATH_VARIABLE, str(tmp_path))
    return tmp_path


def keep(data_directory: Path, name: str = "mine", **fields: object) -> AddedBuild:
    known = {"adapter": added.adapter_digest("seal"), "hexl": False, **fields}
    build = AddedBuild(name, "seal", "seal", "somewhere", {}, **known)  # type: ignore[arg-type]
    (data_directory / name).mkdir(exist_ok=True)
    build.write(data_directory / name)
    return build


def test_a_build_is_a_variant_until_it_is_removed(data_directory: Path) -> None:
    assert "mine" not in registry.declarations()
    keep(data_directory)
    declared, shipped = registry.declaration("mine@again"), registry.declaration("seal")
    assert declared.variant == "mine"
    assert declared.operations == shipped.operations
    assert declared.implementation == shipped.implementation
    assert registry.interpreter("mine") == str(data_directory / "mine" / "environment" / "bin" / "python")
    assert not registry.is_loadable_here("mine")
    (data_directory / "mine" / added.FILE).unlink()
    assert "mine" not in registry.declarations()
    assert "mine" not in registry.shipped()


def test_what_is_unfinished_or_unreadable_is_no_build(data_directory: Path) -> None:
    keep(data_directory, ".adding")
    (data_directory / "empty").mkdir()
    (data_directory / "broken").mkdir()
    (data_directory / "broken" / added.FILE).write_text("{")
    (data_directory / "later").mkdir()
    (data_directory / "later" / added.FILE).write_text('{"name": "later", "a field of the future": 1}')
    assert added.all_builds() == {}
    assert set(registry.declarations()) >= set(registry.shipped())


def test_a_build_without_its_environment_says_how_to_get_it(data_directory: Path) -> None:
    keep(data_directory)
    found = registry.availability("mine", frozenset())
    assert found.reason is not None
    assert "interpreter is missing" in found.reason
    assert found.remedy == "ciphermark build refresh mine"


def test_what_changed_since_is_told(data_directory: Path) -> None:
    library = data_directory / "libseal.so"
    library.write_bytes(b"one")
    keep(data_directory, outside={str(library): binaries.digest(library)})
    assert added.reason_against("mine") is None
    library.write_bytes(b"another")
    against = registry.availability("mine", frozenset())
    assert "has changed since the build mine was added" in str(against.reason)
    assert "remove" in str(against.remedy)
    library.unlink()
    assert "is missing" in str(registry.availability("mine", frozenset()).reason)
    keep(data_directory, adapter="of other sources")
    against = registry.availability("mine", frozenset())
    assert "built from other sources" in str(against.reason)
    assert against.remedy == "ciphermark build refresh mine"
    assert added.reason_against("seal") is None


def test_an_environment_may_be_a_path(tmp_path: Path) -> None:
    assert interpreters.folder(str(tmp_path)) == tmp_path
    assert interpreters.folder("openfhe").name == ".venv-openfhe"
