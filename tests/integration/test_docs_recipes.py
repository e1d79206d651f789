"""Every recipe for a suite is executed here and gives correct results."""

from __future__ import annotations

import re
import uuid
from typing import Any

import pytest
from command import REPOSITORY, Ciphermark
from processes import PATIENCE_OF_RUNS_S
from ruamel.yaml import YAML

from ciphermark_adapters import registry
from ciphermark_adapters.registry import Availability
from ciphermark_benchmark.suite import files, plan

TEXT = (REPOSITORY / "docs" / "how-to" / "suite-recipes.md").read_text(encoding="utf-8")
RECIPES = dict(re.findall(r"^## (.*?)\n.*?```yaml\n(.*?)```", TEXT, flags=re.MULTILINE | re.DOTALL))
# Short budgets, so that all recipes together take a minute; samples enough that a stall of the host in one of them
# does not look like a clock that is astray.
LESS = {"min_samples": 6, "warmups": 0, "min_time_s": 0.0, "memory_mb": 4096, "timeout_s": 300}
SIZES = ("1000000", "65536")


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory, new_url: Any) -> Ciphermark:
    """One run of the experiments of all recipes: workers are shared among those with one parameter set."""
    ciphermark = Ciphermark(tmp_path_factory.mktemp("recipes") / "data", new_url())
    experiments = [item for text in RECIPES.values() for item in experiments_of(text)]
    suite = ciphermark.suite(*experiments, name="recipes", **LESS)
    ciphermark("run", str(suite), timeout_s=PATIENCE_OF_RUNS_S)
    return ciphermark


def experiments_of(text: str) -> list[dict[str, Any]]:
    return list(YAML(typ="safe").load(text.replace(*SIZES))["experiments"])


def test_there_are_recipes() -> None:
    assert len(RECIPES) == TEXT.count("\n## ") >= 15
    assert len({YAML(typ="safe").load(text)["name"] for text in RECIPES.values()}) == len(RECIPES)


@pytest.mark.parametrize("question", RECIPES)
def test_a_recipe_plans_something_to_measure(question: str) -> None:
    """Where all libraries are installed, a plan has something to measure."""
    suite = files.parse(RECIPES[question], question)
    names = {name for item in suite.experiments for name in item.variants}
    planned = plan.cases(suite, {name: Availability(registry.declaration(name)) for name in names})
    assert any(item.reason is None for item in planned), [item.reason for item in planned]


@pytest.mark.extended
@pytest.mark.parametrize("question", RECIPES)
def test_a_recipe_answers_its_question(executed: Ciphermark, question: str) -> None:
    """All of its cases come out right, or say why they cannot; some come out right."""
    outcomes = {outcome["trial"]["id"]: outcome for outcome in executed.outcomes()}
    suite = files.parse(RECIPES[question].replace(*SIZES), question)
    names = {name for item in suite.experiments for name in item.variants}
    planned = plan.cases(suite, {name: Availability(registry.declaration(name)) for name in names})
    run = uuid.UUID(executed.run_id())
    own = [outcomes[str(uuid.uuid5(run, f"{item.case.key}/0"))] for item in planned]
    assert {outcome["status"] for outcome in own} <= {"ok", "unsupported", "budget_exhausted"}, [
        (outcome["status"], outcome["error"]) for outcome in own
    ]
    assert any(outcome["status"] == "ok" for outcome in own), [outcome["error"] for outcome in own]
