"""The findings are what their SQL answers on the reference results, figure by figure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

import pytest
from command import REPOSITORY, Ciphermark

from ciphermark_core import wire
from ciphermark_core.model import Trial

FOLDER = REPOSITORY / "docs" / "results"
INDEX = (FOLDER / "findings.md").read_text(encoding="utf-8")
PAGES = ("learning", "hexl", "libraries", "operations", "chains", "repetitions", "deep")
COSTS = (FOLDER / "costs.md").read_text(encoding="utf-8")
TEXT = "\n".join((FOLDER / f"{name}.md").read_text(encoding="utf-8") for name in PAGES)
ARCHIVES = sorted((REPOSITORY / "reference").glob("*.jsonl.xz"))
# In the order of other tests, which need fewer of them.
NAMES = ("quick", "tenseal-ml", "pir-report", "seal-vs-openfhe", "deep", "bootstrapping", "deep-lattigo")
LARGE = "primitives"  # its import takes half a minute
_ANSWER = re.compile(r"```sql\n(.*?)```\n\n```text\n(.*?)```", flags=re.DOTALL)
ANSWERS, OF_COSTS = _ANSWER.findall(TEXT), _ANSWER.findall(COSTS)
_MAX_BYTES, _MAX_LARGE_BYTES = 3_000_000, 4_300_000  # 17,618 trials with 30 samples each


@pytest.fixture(scope="module")
def reference_results(tmp_path_factory: pytest.TempPathFactory, reference: Any) -> Ciphermark:
    return Ciphermark(tmp_path_factory.mktemp("findings"), reference(*NAMES))


def test_the_reference_results_are_small_and_name_no_place_of_the_host_that_made_them() -> None:
    import lzma

    sizes = {path.name.partition(".")[0]: path.stat().st_size for path in ARCHIVES}
    assert set(sizes) == {*NAMES, LARGE}
    assert sizes.pop(LARGE) <= _MAX_LARGE_BYTES
    assert sum(sizes.values()) <= _MAX_BYTES
    for path in ARCHIVES:
        text = lzma.decompress(path.read_bytes()).decode()
        assert re.findall(r"/(?:home|root|tmp|work)/[^\"\\ ]*", text) == []


@dataclass
class Measured:
    """Of a line of an archive what it is about."""

    trial: Trial


def test_keys_of_the_reference_results_are_those_that_their_trials_are_named_by() -> None:
    """Ids of trials were made of keys when they were measured, before words changed."""
    import lzma

    for path in ARCHIVES:
        _, *outcomes, _ = lzma.decompress(path.read_bytes()).splitlines()
        for trial in (wire.from_line(line, Measured).trial for line in outcomes):
            assert trial.id == str(uuid5(UUID(trial.run_id), f"{trial.case.key}/{trial.process}"))


def test_every_finding_has_its_sql_and_answer() -> None:
    every = TEXT + COSTS
    assert (
        every.count("\n## ") == len(ANSWERS + OF_COSTS) == every.count("```sql") == INDEX.count("| [") >= 10
    )
    assert all(f"({name}.md#" in INDEX for name in (*PAGES, "costs"))


@pytest.mark.parametrize(("statement", "answer"), ANSWERS, ids=range(1, len(ANSWERS) + 1))
def test_a_finding_is_what_its_sql_answers(
    reference_results: Ciphermark, statement: str, answer: str
) -> None:
    printed = reference_results("sql", statement).out
    assert [line.split() for line in printed.splitlines()] == [line.split() for line in answer.splitlines()]


@pytest.mark.extended
def test_findings_on_costs_are_what_their_sql_answers(
    tmp_path_factory: pytest.TempPathFactory, reference: Any
) -> None:
    costs = Ciphermark(tmp_path_factory.mktemp("costs"), reference(LARGE))
    for statement, answer in OF_COSTS:
        printed = costs("sql", statement).out
        assert [line.split() for line in printed.splitlines()] == [
            line.split() for line in answer.splitlines()
        ]
