"""What a broken declaration does to the commands that read declarations."""

from pathlib import Path

import pytest

from ciphermark_adapters import registry
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
