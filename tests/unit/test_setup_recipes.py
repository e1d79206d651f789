"""The setup finds how a library is built beside its adapter, and nowhere else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

SETUP = Path(__file__).parents[2] / "setup"
RECIPE = """
from runner import Stage
from system import DebianPackage

PACKAGES = (DebianPackage("libmine-dev", lambda: False, only_for="mine"),)


def stages(without):
    def build(shell):
        pass

    return [
        Stage("native-mine", "module", lambda: [], lambda: True, build, needs=("mine",)),
        Stage("mine", "mine", lambda: [], lambda: True, build, needs=("python", "system")),
    ]
"""


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """The names of all stages, with one recipe beside the shipped ones, less those left out."""
    monkeypatch.syspath_prepend(SETUP)
    before = set(sys.modules)
    import recipes

    for shipped in recipes.names():
        (tmp_path / shipped).symlink_to(recipes.ADAPTERS / shipped)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "recipe.py").write_text(RECIPE)
    recipes.load.cache_clear()
    monkeypatch.setattr(recipes, "ADAPTERS", tmp_path)
    from stages import all_stages

    yield lambda *without: [stage.name for stage in all_stages(without)]
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_a_recipe_is_one_file_beside_its_adapter(names):
    found = names()
    assert found.index("python") < found.index("mine") < found.index("native-mine")


def test_what_needs_a_stage_that_is_left_out_is_left_out_too(names):
    assert {"mine", "native-mine"}.isdisjoint(names("mine"))
    assert {"seal", "native-seal", "seal-hexl", "pyfhel"}.isdisjoint(names("sources"))


def test_the_packages_of_a_recipe_are_asked_for_unless_its_stage_is_left_out(names):
    import recipes
    import system

    packages = recipes.packages()
    assert "libmine-dev" in system.missing_packages(packages, ())
    assert "libmine-dev" not in system.missing_packages(packages, ("mine",))


def test_the_shipped_stages_keep_their_names(names):
    found = set(names())
    assert found >= {
        *(
            "system",
            "python",
            "sources",
            "packages",
            "chromium",
            "tenseal",
            "pyfhel",
            "python3.10",
            "openfhe",
        ),
        *("seal", "seal-hexl", "native-seal", "native-seal-hexl"),
    }
