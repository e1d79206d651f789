"""Databases in files: what is read is what was written, and whatever is malformed is refused with its reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pytest

from ciphermark_core.descriptor import Value
from ciphermark_core.errors import UserError
from ciphermark_workloads import user_workloads
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.retrieval import user_records

BY_INDEX, BY_KEYWORD = WORKLOADS["fast-pir"], WORKLOADS["keyword-pir"]
ALL_VALUES = bytes(range(256)) * 3


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    yield
    user_records.elements.cache_clear()
    user_records.records.cache_clear()


def held(file: str, data: bytes) -> str:
    name = user_workloads.file_name(file, data)
    user_workloads.hold_file(name, data)
    return name


@pytest.mark.parametrize(
    ("file", "data", "options", "rows"),
    [
        ("a.bin", ALL_VALUES, {"element_bytes": 24}, np.frombuffer(ALL_VALUES, np.uint8).reshape(32, 24)),
        ("a.bin", b"\xff", {"element_bytes": 1}, np.array([[255]])),
        ("a.csv", "äb\r\nxyz\n".encode(), {}, np.array([[195, 164, 98], [120, 121, 122]])),
        (
            "a.csv",
            b'\xef\xbb\xbf"a,b"\n"c\nd"',
            {"element_bytes": 3},
            np.array([[97, 44, 98], [99, 10, 100]]),
        ),
    ],
)
def test_elements_are_those_of_the_file(
    file: str, data: bytes, options: Mapping[str, Value], rows: np.ndarray
) -> None:
    name = held(file, data)
    chosen = BY_INDEX.with_file("database", name, data, options)
    count, size = rows.shape
    assert chosen == {**options, "database": name, "elements": count, "element_bytes": size}
    workload = BY_INDEX.with_options(chosen)
    assert np.array_equal([workload.reference(index) for index in range(count)], rows)
    assert np.array_equal(user_records.elements(name, count, size).rows(0, count), rows)


def test_records_are_those_of_the_file() -> None:
    data = 'eins,1\nzwei,"2,5"\nein längerer Schlüssel als die meisten,drei\n'.encode()
    name = held("a.csv", data)
    workload = BY_KEYWORD.with_options(BY_KEYWORD.with_file("database", name, data, {}))
    assert (workload.options.records, workload.options.value_bytes) == (3, 4)
    for keyword, value in (
        ("eins", b"1"),
        ("zwei", b"2,5"),
        ("ein längerer Schlüssel als die meisten", b"drei"),
    ):
        assert bytes(workload.reference(keyword.encode()).tolist()) == value
    assert workload.reference(b"vier").tolist() == [-2]


@pytest.mark.parametrize(
    ("file", "data", "options", "complaint"),
    [
        ("a.bin", b"", {"element_bytes": 1}, "the file is empty"),
        ("a.csv", b"", {}, "the file is empty"),
        ("a.bin", bytes(10), {}, r"give the length of elements: element_bytes: \[256\]"),
        ("a.bin", bytes(10), {"element_bytes": 3}, "10 bytes are no multiple of 3"),
        ("a.bin", bytes(10), {"element_bytes": 0}, "10 bytes are no multiple of 0"),
        (
            "a.bin",
            bytes(10),
            {"element_bytes": 5, "elements": 3},
            "elements is 2 in the file, but 3 in the suite: omit",
        ),
        ("a.bin", bytes(10), {"element_bytes": 5, "database_seed": 3}, "omit database_seed"),
        ("a.txt", bytes(10), {"element_bytes": 5}, "a database is a file records.bin or records.csv"),
        ("a.csv", b"ab\nabc\n", {}, "line 2: an element of 3 bytes, and the first has 2"),
        ("a.csv", b"ab\n\nab\n", {}, "line 2: 0 fields where an element is expected"),
        ("a.csv", b"ab\na,b\n", {}, "line 2: 2 fields where an element is expected"),
        ("a.csv", b'""\n', {}, "line 1: an element of 0 bytes"),
        ("a.csv", b'ab\n"ab\n', {}, "line 2: unexpected end of data"),
        ("a.csv", b"ab\n\xff\n", {}, "byte 3 is not UTF-8"),
        ("a.csv", b"ab\n", {"element_bytes": 3}, "element_bytes is 2 in the file, but 3 in the suite"),
    ],
)
def test_elements_that_are_malformed_are_refused(
    file: str, data: bytes, options: Mapping[str, Value], complaint: str
) -> None:
    with pytest.raises(UserError, match=complaint):
        BY_INDEX.with_file("database", user_workloads.file_name(file, data), data, options)


@pytest.mark.parametrize(
    ("file", "data", "complaint"),
    [
        ("a.bin", b"a,b\n", "keywords and values are read from a .csv"),
        ("a.csv", b"", "the file is empty"),
        ("a.csv", b"a,b\nc\n", "line 2: 1 fields where a keyword and a value is expected"),
        ("a.csv", b"a,b\nc,d,e\n", "line 2: 3 fields"),
        ("a.csv", b"a,b\nc,d\na,e\n", "line 3: the keyword 'a' is there twice"),
        ("a.csv", b"a,b\n,d\n", "line 2: an empty keyword"),
        ("a.csv", b"a,b\nc,\n", "line 2: an empty value"),
        ("a.csv", b"a,b\nc," + b"x" * 32769, "line 2: a value of 32769 bytes, 32768 are the most"),
    ],
)
def test_records_that_are_malformed_are_refused(file: str, data: bytes, complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        BY_KEYWORD.with_file("database", user_workloads.file_name(file, data), data, {})


def test_what_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_workloads, "MAX_FILE_BYTES", 9)
    with pytest.raises(UserError, match="10 bytes are too many, 9 are the most"):
        BY_INDEX.with_file("database", "a@00000000.bin", bytes(10), {"element_bytes": 1})


def test_a_workload_that_takes_no_files_says_so() -> None:
    with pytest.raises(UserError, match="lmc-plain takes no files"):
        WORKLOADS["lmc-plain"].with_file("database", "a@00000000.bin", b"a", {})


def test_a_kept_file_has_the_contents_that_its_name_tells(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_workloads, "_folders", [])
    name = user_workloads.file_name("x/My records!.BIN", b"abc")
    assert name == "My-records@ba7816bf.bin"
    with pytest.raises(UserError, match="is not here; looked in: no folder"):
        user_workloads.file_content(name)
    user_workloads.store_file(tmp_path, name, b"abc")
    user_workloads.look_in(tmp_path)
    assert user_workloads.file_content(name) == b"abc"
    (tmp_path / name).write_bytes(b"abd")
    with pytest.raises(UserError, match="its contents do not match the digest"):
        user_workloads.file_content(name)
    assert user_workloads.file_in(tmp_path, f"../{tmp_path.name}/{name}") is None


def test_a_party_with_another_shape_refuses() -> None:
    name = held("a.bin", bytes(12))
    with pytest.raises(UserError, match="has 4 elements of 3 bytes, not 5 of 3"):
        BY_INDEX.with_options({"database": name, "elements": 5, "element_bytes": 3}).reference(0)
    name = held("a.csv", b"a,bc\n")
    with pytest.raises(UserError, match="has 1 records of at most 2 bytes, not 2 of 2"):
        BY_KEYWORD.with_options({"database": name, "records": 2, "value_bytes": 2}).reference(b"a")
