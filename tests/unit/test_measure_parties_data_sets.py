from __future__ import annotations

import numpy as np
import pytest

from ciphermark_core.errors import UserError
from ciphermark_measure.parties.inputs import finder, keep, kept
from ciphermark_workloads.learning.classifier import split

OWN = "a,b,label\n" + "".join(f"{i},{i * i % 7},{i % 2}\n" for i in range(20))


def test_a_shipped_data_set_is_split_by_its_seed():
    found = finder(None)("boston")
    one, again, other = (split(found, seed) for seed in (1, 1, 2))
    assert one.train.features.shape == (405, 13)
    assert len(one.test.labels) == 101
    assert np.array_equal(one.test.features, again.test.features)
    assert not np.array_equal(one.test.features, other.test.features)
    assert len(split(found, 1, 0.5).test.labels) == 253


def test_a_data_set_of_ones_own(tmp_path):
    (tmp_path / "mine.csv").write_text(OWN)
    assert finder(tmp_path)("mine").features.shape == (20, 2)


def test_a_data_set_is_kept_for_its_owner_alone(tmp_path):
    keep(tmp_path / "new", "mine@0f", OWN.encode())
    keep(tmp_path / "new", "mine@0f", OWN.encode())
    (path,) = (tmp_path / "new").iterdir()
    assert kept(tmp_path / "new", "mine@0f") == path
    assert path.stat().st_mode & 0o777 == 0o600
    assert finder(tmp_path / "new")("mine@0f").features.shape == (20, 2)
    assert kept(tmp_path / "new", "../new/mine@0f") is None
    assert kept(tmp_path / "nowhere", "mine@0f") is None


def test_shipped_data_sets_cannot_be_replaced(tmp_path):
    (tmp_path / "boston.csv").write_text(OWN)
    assert finder(tmp_path)("boston").features.shape == (506, 13)


@pytest.mark.parametrize(
    "name", ["nowhere", "../secret", "/etc/passwd", "", ".hidden", "a/b", "x" * 65, "mine\n"]
)
def test_nothing_else_is_a_data_set(tmp_path, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "secret.csv").write_text(OWN)
    (tmp_path / "folder" / ".hidden.csv").write_text(OWN)
    (tmp_path / "folder" / "mine.csv").write_text(OWN)
    for folder in (None, tmp_path / "folder"):
        with pytest.raises(UserError, match=r"there is no data set .* here; shipped: boston, breast-cancer"):
            finder(folder)(name)


def test_a_faulty_data_set_is_told(tmp_path):
    (tmp_path / "mine.csv").write_text(OWN + "1,x,0\n")
    with pytest.raises(UserError, match="mine, line 22, column 'b': 'x' is not a finite number"):
        finder(tmp_path)("mine")
