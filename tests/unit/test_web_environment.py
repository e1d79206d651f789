from __future__ import annotations

import stat

import pytest

from ciphermark_core.errors import UserError
from ciphermark_web import environment


def test_defaults_stand_for_what_is_unset_or_empty():
    assert environment.text({}, "X", "default") == "default"
    assert environment.text({"X": ""}, "X", "default") == "default"
    assert environment.integer({}, "X", 7, (1, 9)) == 7
    assert environment.one_of({}, "X", ("info", "debug")) == "info"


@pytest.mark.parametrize(("text", "value"), [("1", 1), ("9", 9), ("09", 9)])
def test_whole_numbers_within_bounds(text, value):
    assert environment.integer({"X": text}, "X", 7, (1, 9)) == value


@pytest.mark.parametrize("text", ["0", "10", "-1", "1.5", "x", " 3", "²", "١"])
def test_anything_else_is_told(text):
    with pytest.raises(UserError, match=r"X is .*; it must be a whole number from 1 to 9"):
        environment.integer({"X": text}, "X", 7, (1, 9))


def test_choices():
    assert environment.one_of({"X": "DEBUG"}, "X", ("info", "debug")) == "debug"
    with pytest.raises(UserError, match="X is 'loud'; it must be one of info, debug"):
        environment.one_of({"X": "loud"}, "X", ("info", "debug"))


def test_folders_are_made(tmp_path):
    made = environment.folder({"X": str(tmp_path / "a" / "b")}, "X", "for blobs")
    assert made.is_dir()


def test_a_private_folder_is_closed_to_others(tmp_path):
    open_to_all = tmp_path / "private"
    open_to_all.mkdir(mode=0o755)
    made = environment.private_folder({"X": str(open_to_all)}, "X", "for data sets")
    assert stat.S_IMODE(made.stat().st_mode) == 0o700


def test_folders_that_cannot_be(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="X is not set; it must name the folder for blobs"):
        environment.folder({}, "X", "for blobs")
    with pytest.raises(UserError, match=r"X: the folder .*file cannot be created"):
        environment.folder({"X": str(tmp_path / "file")}, "X", "for blobs")


@pytest.mark.parametrize(("one", "other"), [("a", "a"), ("a", "a/b"), ("a/b", "a"), ("link", "a")])
def test_private_and_shared_are_apart(tmp_path, one, other):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "a")
    with pytest.raises(UserError, match="must be apart"):
        environment.require_apart(tmp_path / one, tmp_path / other)


def test_folders_side_by_side_are_apart(tmp_path):
    environment.require_apart(tmp_path / "a", tmp_path / "ab")
