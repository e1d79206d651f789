"""Shipped data sets are what they claim to be; a user's CSV is read or refused with line and column."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from ciphermark_core.errors import Unsupported, UserError
from ciphermark_workloads import data_sets as reader
from ciphermark_workloads.data_sets import DATA_SETS, take
from ciphermark_workloads.learning import classifier

ROWS = "\n".join(f"{i},{i % 3},{i % 2}" for i in range(12))
GOOD = f"a,b,y\n{ROWS}\n"


def test_breast_cancer_is_the_set_of_scikit_learn() -> None:
    datasets = pytest.importorskip("sklearn.datasets")
    theirs, ours = datasets.load_breast_cancer(), DATA_SETS["breast-cancer"]()
    np.testing.assert_array_equal(ours.features, theirs.data)
    np.testing.assert_array_equal(ours.labels, theirs.target)
    assert ours.columns == tuple(str(name).replace(" ", "_") for name in theirs.feature_names)


def test_boston_is_the_published_table() -> None:
    """Figures of the original: 506 tracts; MEDV has the median 21.2; the mean of RM is 6.2846, of CRIM 3.6135."""
    boston = DATA_SETS["boston"]()
    assert boston.features.shape == (506, 13)
    assert boston.features[:, boston.columns.index("RM")].mean() == pytest.approx(6.284634, abs=1e-6)
    assert boston.features[:, boston.columns.index("CRIM")].mean() == pytest.approx(3.613524, abs=1e-6)
    assert boston.features[0, 0] == 0.00632
    assert boston.labels.sum() == 250
    assert [boston.labels[0], boston.labels[9]] == [1.0, 0.0]  # 24.0 and 18.9 beside the median 21.2


def test_a_csv_becomes_rows_and_labels() -> None:
    data = reader.read("\ufeff" + GOOD.replace("\n", "\r\n") + "\n", "mine")
    assert data.columns == ("a", "b")
    assert data.features[4].tolist() == [4.0, 1.0]
    assert data.labels.tolist() == [0.0, 1.0] * 6


def test_of_two_label_values_the_larger_is_class_1() -> None:
    text = "a,y\n" + "\n".join(f"{i},{-3 if i < 4 else 2.5}" for i in range(10))
    assert reader.read(text, "mine").labels.tolist() == [0.0] * 4 + [1.0] * 6


def test_the_median_splits_labels() -> None:
    text = "a,y\n" + "\n".join(f"0,{i}" for i in range(11))
    assert reader.read(text, "mine", "median").labels.tolist() == [0.0] * 6 + [1.0] * 5


@pytest.mark.parametrize(
    ("text", "rule", "complaint"),
    [
        ("", "binary", "line 1: a header of two columns or more"),
        ("y\n1\n", "binary", "line 1: a header of two columns or more"),
        ("a,,y\n" + ROWS, "binary", "line 1: column 2 has no name"),
        ("a,a,y\n" + ROWS, "binary", "line 1: two columns are named 'a'"),
        ("1,2,3\n" + ROWS, "binary", "line 1: '1' is a number where a column's name"),
        (GOOD + "1,2\n", "binary", "line 14: 2 fields, but the header names 3"),
        (GOOD + "1,-1e101,0\n", "binary", "line 14, column 'b': -1e101 is too large, 1e+100 is the most"),
        (GOOD + "1,two,0\n", "binary", "line 14, column 'b': 'two' is not a finite number"),
        (GOOD + "1,nan,0\n", "binary", "line 14, column 'b': 'nan' is not a finite number"),
        (GOOD + ",1,0\n", "binary", "line 14, column 'a': '' is not a finite number"),
        (GOOD + "\n1,inf,0\n", "binary", "line 15, column 'b': 'inf'"),
        (GOOD + '1,"2,0\n', "binary", "line 14: unexpected end of data"),
        (GOOD + "1,2,7\n", "binary", "column 'y': 3 different labels"),
        ("a,y\n" + "1,5\n" * 12, "binary", "column 'y': all labels are 5.0"),
        ("a,y\n" + "1,0\n" + "1,5\n" * 12, "median", "column 'y': no label is above the median"),
        ("a,y\n1,0\n1,1\n", "binary", "2 rows are too few, 10 are the least"),
    ],
)
def test_faults_are_told_with_line_and_column(text: str, rule: reader.LabelRule, complaint: str) -> None:
    with pytest.raises(UserError) as caught:
        reader.read(text, "mine.csv", rule)
    assert str(caught.value).startswith("mine.csv")
    assert complaint in str(caught.value)


def test_sizes_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    many = ",".join(f"c{i}" for i in range(reader.MAX_COLUMNS + 1))
    with pytest.raises(UserError, match="1025 columns are too many, 1024 are the most"):
        reader.read(many, "mine")
    monkeypatch.setattr(reader, "MAX_ROWS", 11)
    with pytest.raises(UserError, match="line 13: 11 rows are the most"):
        reader.read(GOOD, "mine")
    monkeypatch.setattr(reader, "MAX_BYTES", 20)
    with pytest.raises(UserError, match="bytes are too many: at most 20"):
        reader.read(GOOD, "mine")


def test_a_split_is_seeded_disjoint_and_scaled_by_training_rows() -> None:
    data = DATA_SETS["boston"]()
    task = classifier.split(data, 3)
    assert len(task.test.labels) == 101
    assert len(task.train.labels) == 405
    np.testing.assert_allclose(task.train.features.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(task.train.features.std(axis=0), 1.0)
    assert np.abs(task.test.features.mean(axis=0)).max() > 1e-3  # scaled by the training rows, not by its own
    again, other = classifier.split(data, 3), classifier.split(data, 4)
    np.testing.assert_array_equal(again.test.features, task.test.features)
    assert not np.array_equal(other.test.labels, task.test.labels)
    rows = np.vstack([task.train.features, task.test.features])
    assert len(np.unique(rows.round(9), axis=0)) == len(np.unique(data.features, axis=0))


def test_a_constant_feature_becomes_zero() -> None:
    data = reader.read("a,b,y\n" + "\n".join(f"{i},0.1,{i % 2}" for i in range(20)), "mine")
    assert not classifier.split(data, 0).train.features[:, 1].any()


def test_large_and_small_features_are_scaled_as_others_are() -> None:
    rows = "\n".join(f"{i},{i * 5e98},{i * 1e-200},{i % 2}" for i in range(20))
    task = classifier.split(reader.read(f"a,large,small,y\n{rows}", "mine"), 0)
    np.testing.assert_allclose(task.train.features[:, 1], task.train.features[:, 0])
    assert not task.train.features[
        :, 2
    ].any()  # the squares of its differences are 0: constant, as far as floats go


def test_a_split_needs_a_column_that_varies() -> None:
    data = reader.read("a,b,y\n" + "\n".join(f"3,0.1,{i % 2}" for i in range(20)), "mine")
    with pytest.raises(
        Unsupported, match="no column has two different values in the 16 training rows of seed 7"
    ):
        classifier.split(data, 7)


def test_a_given_data_set_is_named_after_its_contents() -> None:
    given = take(GOOD.encode(), "mine")
    assert (given.data, given.rows, given.features) == (GOOD.encode(), 12, 2)
    assert given.called("mine") == f"mine@{hashlib.sha256(GOOD.encode()).hexdigest()[:8]}"
    changed = take(GOOD.replace("11,2,1", "11,2.5,1").encode(), "mine")
    assert changed.called("mine") != given.called("mine")
    assert take(GOOD.encode(), "other").called("mine") == given.called("mine")


@pytest.mark.parametrize(
    ("stem", "name"),
    [
        ("Ä x, y (1)", "x-y-1@"),
        ("../../etc", "etc@"),
        ("", "data@"),
        ("x" * 99, "x" * 40 + "@"),
        (".a@b", "a-b@"),
    ],
)
def test_names_are_plain_whatever_the_file_is_called(stem: str, name: str) -> None:
    assert take(GOOD.encode(), "mine").called(stem)[:-8] == name


def test_the_median_is_a_part_of_the_contents() -> None:
    text = 'a,"b, c",y\n' + "\n".join(f"{i}e-3, 2.50,{i * i}" for i in range(11))
    given = take(text.encode(), "mine", "median")
    told, kept = reader.read(text, "mine", "median"), reader.read(given.data.decode(), "kept")
    assert kept.columns == told.columns == ("a", "b, c")
    assert np.array_equal(kept.features, told.features)
    assert np.array_equal(kept.labels, told.labels)
    assert given.data.splitlines()[1] == b"0e-3, 2.50,0"
    binary = text.replace("\n0e", "\n99e", 1)
    assert take(binary.encode(), "mine", "median").digest != given.digest
    assert take(given.data, "mine") == given


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(UserError, match=r"mine\.csv: byte 4 is not UTF-8"):
        take(b"a,b\n\xff,1\n", "mine.csv")


def test_a_split_needs_both_classes() -> None:
    lonely = reader.read("a,y\n" + "1,0\n2,0\n" * 6 + "1,1\n", "mine")
    refusals = [str(error) for seed in range(60) if (error := _refusal(lonely, seed)) is not None]
    assert 0 < len(refusals) < 30  # the only row of class 1 is a test row in about a sixth of the splits
    assert refusals[0].startswith("mine: 13 rows cannot be split by seed")


def _refusal(data: reader.DataSet, seed: int) -> Unsupported | None:
    try:
        classifier.split(data, seed)
    except Unsupported as error:
        return error
    return None
