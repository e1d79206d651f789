"""Where declarations are found, and what a broken one does to the commands that read them."""

import os
import shutil
from pathlib import Path

import pytest

from ciphermark_adapters import _template, operations_page, registry
from ciphermark_core.errors import UserError


def test_a_declaration_that_cannot_be_imported_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "brokenlib"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "declaration.py").write_text("import no_such_module_anywhere\n")
    monkeypatch.setenv(registry.PATH_VARIABLE, str(tmp_path))
    with pytest.raises(UserError, match=r"brokenlib/declaration\.py cannot be read: ModuleNotFoundError"):
        registry.declarations()


def test_an_installed_package_offers_its_adapter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the entry point ``ciphermark.adapters``: nothing but the installation is needed."""
    package = shutil.copytree(Path(_template.__file__).parent, tmp_path / "somelib")
    for file in package.glob("*.py"):
        file.write_text(file.read_text().replace("template", "somelib").replace("Template", "Somelib"))
    facts = tmp_path / "somelib_adapter-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: somelib-adapter\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[ciphermark.adapters]\nsomelib = somelib\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv(registry.PATH_VARIABLE, os.pathsep)  # another path: what was found before is not asked
    assert registry.declaration("somelib").library == "Somelib"
    assert registry.load("somelib").info().variant == "somelib"


def test_the_page_of_operations_is_that_of_the_table() -> None:
    again = "rebuild it: python -m ciphermark_adapters.operations_page"
    assert operations_page.PAGE.read_text() == operations_page.page(list(registry.shipped().values())), again
    assert operations_page.SUMMARIES.read_text() == operations_page.summaries(), again
    told = operations_page.additions(list(registry.shipped().values()))
    assert operations_page.ADDITIONS.read_text() == told, again
