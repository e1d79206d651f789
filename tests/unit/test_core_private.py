"""What others may do with folders of ours."""

from __future__ import annotations

import stat

import pytest

from ciphermark_core.private import private_folder


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_folders_are_made_for_their_owner(tmp_path):
    private_folder(tmp_path / "data" / "journal" / "pending")
    for name in ("data", "data/journal", "data/journal/pending"):
        assert mode(tmp_path / name) == 0o700
    assert mode(tmp_path) == 0o700


@pytest.mark.parametrize(
    ("before", "after"), [(0o755, 0o711), (0o777, 0o711), (0o700, 0o700), (0o1777, 0o1777)]
)
def test_a_folder_that_exists_is_closed_unless_it_is_everybodys(tmp_path, before, after):
    folder = tmp_path / "data"
    folder.mkdir()
    folder.chmod(before)
    private_folder(folder)
    assert mode(folder) == after
