"""Data sets that suites name: found by name, in files, or told with line and remedy."""

from __future__ import annotations

import hashlib

import pytest

from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.data_sets import Known
from ciphermark_benchmark.data_sets.catalogue import Catalogue
from ciphermark_benchmark.data_sets.finder import Remembered
from ciphermark_benchmark.runner import runs
from ciphermark_benchmark.suite import files, plan
from ciphermark_benchmark.suite.form import json_schema
from ciphermark_core.errors import UserError
from ciphermark_workloads import user_workloads
from ciphermark_workloads.catalogue import WORKLOADS

OWN = "a,b,y\n" + "".join(f"{i},{i * i % 7},{i % 2}\n" for i in range(20))
MANY = "a,b,y\n" + "".join(f"{i},{i * i % 7},{i}\n" for i in range(20))
NAME = "mine@" + hashlib.sha256(OWN.encode()).hexdigest()[:8]


def suite_of(*entries):
    lines = "".join(f"      - {entry}\n" for entry in entries)
    return (
        "name: own\nexperiments:\n  - kind: learning\n    variants: [cleartext]\n    workloads: [lmc-plain]\n"
        f"    data_sets:\n{lines}"
    )


@pytest.fixture
def data_directory(tmp_path):
    return DataDirectory(tmp_path / "data", None)


@pytest.fixture
def catalogue(data_directory, tmp_path):
    (tmp_path / "mine.csv").write_text(OWN)
    (tmp_path / "many.csv").write_text(MANY)
    return Catalogue(data_directory, {}, tmp_path)


def parsed(text, catalogue):
    return files.parse(text, "s.yaml", catalogue)


def known_of(suite):
    return [item.known for item in suite.experiments[0].data_sets]


def told(text, catalogue):
    with pytest.raises(UserError) as caught:
        parsed(text, catalogue)
    return str(caught.value)


def test_files_are_named_after_their_contents(catalogue, data_directory):
    suite = parsed(suite_of("boston", "mine.csv", "{file: many.csv, label: median}"), catalogue)
    boston, mine, many = known_of(suite)
    assert (boston, mine) == (Known("boston", 506, 13), Known(NAME, 20, 2))
    assert many.name.startswith("many@")
    assert list(runs.own_data_sets(suite)) == ["mine.csv", "many.csv (median)"]
    assert not data_directory.folder.exists()  # nothing is kept before a run begins


def test_a_case_tells_the_contents_and_the_size(catalogue):
    from ciphermark_adapters import registry

    suite = parsed(suite_of("mine.csv"), catalogue)
    available = {"cleartext": registry.availability("cleartext", frozenset())}
    found = [item.case for item in plan.cases(suite, available)]
    assert {(case.dimensions.get("data_set"), case.vector_length, case.data_pattern) for case in found} == {
        (NAME, 40, "real")
    }


def test_what_is_kept_is_found_by_name_and_without_its_file(catalogue, data_directory, tmp_path):
    suite = parsed(suite_of("mine.csv", "{file: many.csv, label: median}"), catalogue)
    own = runs.own_data_sets(suite)
    catalogue.provide(known.name for known in own.values())
    (tmp_path / "mine.csv").unlink()
    (tmp_path / "many.csv").write_text("something else")
    text = suite_of("mine.csv", "{file: many.csv, label: median}")
    assert known_of(parsed(text, Remembered(own))) == list(own.values())
    assert known_of(parsed(suite_of(NAME), Catalogue(data_directory, {}))) == [own["mine.csv"]]
    Catalogue(data_directory, {}).provide([NAME])
    (data_directory.data_sets / f"{NAME}.csv").unlink()
    with pytest.raises(UserError, match=f"the data set {NAME} is no longer in .*: put {NAME}.csv back there"):
        Catalogue(data_directory, {}).provide([NAME])


def test_a_kept_file_that_was_changed_is_no_longer_that_data_set(catalogue, data_directory):
    parsed(suite_of("mine.csv"), catalogue)
    catalogue.provide([NAME])
    path = data_directory.data_sets / f"{NAME}.csv"
    path.write_text(OWN.replace("3,2,1", "3,3,1"))
    with pytest.raises(UserError, match="its contents do not match the digest"):
        parsed(suite_of(NAME), Catalogue(data_directory, {}))


def test_a_kept_file_of_an_option_is_for_parties_on_this_host(catalogue, data_directory, tmp_path):
    """Services are given none: what would fail there is refused where the suite is read."""
    (tmp_path / "records.bin").write_bytes(bytes(range(240)))
    workload, values = WORKLOADS["fast-pir"], {"database": "records.bin", "element_bytes": 24}
    settled = catalogue.with_files(workload, values)
    catalogue.provide([])
    assert Catalogue(data_directory, {}).with_files(workload, settled) == settled
    services = {
        f"CIPHERMARK_{party}_{what}": value
        for party in ("CLIENT", "SERVER")
        for what, value in (("URL", "http://127.0.0.1:1"), ("TOKEN", "token"))
    }
    with pytest.raises(ValueError, match="for parties on this host"):
        Catalogue(data_directory, services).with_files(workload, settled)


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        ("nowhere.csv", "s.yaml:8: experiments.0.data_sets.1: nowhere.csv: there is no such file"),
        (
            "bad.csv",
            "s.yaml:8: experiments.0.data_sets.1: bad.csv, line 22, column 'b': 'x' is not a finite number",
        ),
        (
            "many.csv",
            "20 different labels, but the rule binary takes two: write 0 and 1, or use the rule median",
        ),
        ("bostn", "unknown data set 'bostn'; did you mean 'boston'?; known: boston, breast-cancer"),
        ("{file: mine.csv, lable: median}", "s.yaml:8: unknown key 'lable'; did you mean 'label'?"),
        ("{file: mine.csv, label: mean}", "'mean' is not one of 'binary' or 'median'"),
        ("{file: mine.csv, name: boston}", "a file has no other name, and a name no rule for its label"),
        ("{name: boston, label: median}", "a file has no other name, and a name no rule for its label"),
        ("{label: median}", "a data set is a name (boston), a CSV file (mine.csv), or {file: mine.csv"),
        (
            "3",
            "a data set is a name (boston), a CSV file (mine.csv), or {file: mine.csv, label: median}, not 3",
        ),
        ("boston", "'boston' is listed twice"),
        ("large.csv", "large.csv: 16777217 bytes are too many: at most 16777216 are read"),
    ],
)
def test_mistakes_are_told_with_line_and_remedy(catalogue, tmp_path, entry, complaint):
    (tmp_path / "bad.csv").write_text(OWN + "1,x,0\n")
    with (tmp_path / "large.csv").open("wb") as file:
        file.truncate((16 << 20) + 1)
    assert complaint in told(suite_of("boston", entry), catalogue)


@pytest.mark.parametrize("file", ["mine.csv", "nowhere.csv", "/etc/hostname.csv", "{file: /etc/passwd}"])
def test_no_path_is_looked_at_for_suites_from_elsewhere(data_directory, catalogue, file):
    answer = told(suite_of(file), Catalogue(data_directory, {}))
    assert "files are read by the command line alone; give the CSV to the client service" in answer
    assert "no such file" not in answer
    with pytest.raises(UserError, match="unknown data set"):
        files.parse(suite_of(file), "s.yaml")


def test_the_schema_has_both_forms():
    fields = json_schema()["$defs"]["DataSetText"]["anyOf"]
    assert fields[0]["type"] == "string"
    assert set(fields[1]["properties"]) == {"name", "file", "label"}


def test_a_workload_of_several_experiments_is_loaded_once(catalogue, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        "from ciphermark import computation, reals\n\n@computation(x=reals(8))\ndef mine(x):\n    return x + 1\n"
    )
    loads, copied = [], user_workloads.copied
    monkeypatch.setattr(user_workloads, "copied", lambda *given: loads.append(given) or copied(*given))
    experiment = "{kind: own, workloads: [./mine.py], variants: [cleartext]}"
    suite = parsed(f"{{name: own, experiments: [{experiment}, {experiment}]}}", catalogue)
    assert len(suite.experiments) == 2
    assert len(loads) == 1
