"""What each of our distributions brings along: images install them by name, and get no more than they declare."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import tomllib

REPOSITORY = Path(__file__).parents[2]
_OURS = re.compile(r"ciphermark[-_](\w+)")


def _folders() -> dict[str, Path]:
    described = (
        path for pattern in ("libs/*", "services/*", "db", "dashboards") for path in REPOSITORY.glob(pattern)
    )
    return {
        tomllib.loads((folder / "pyproject.toml").read_text())["project"]["name"]: folder
        for folder in described
        if (folder / "pyproject.toml").is_file()
    }


FOLDERS = _folders()


def _declared(name: str) -> set[str]:
    """The distributions of ours that one declares."""
    project = tomllib.loads((FOLDERS[name] / "pyproject.toml").read_text())["project"]
    return {line.partition("[")[0] for line in project["dependencies"]} & FOLDERS.keys()


def _closure(name: str) -> set[str]:
    return {name}.union(*(_closure(needed) for needed in _declared(name)))


def _imported(name: str) -> set[str]:
    """The distributions of ours that its modules import."""
    found = set()
    for file in FOLDERS[name].rglob("*.py"):
        if file.parts[-3] == "ciphermark_workloads" and file.name == "figures.py":
            continue  # ciphermark-present loads it, and is there where anything does
        for node in ast.walk(ast.parse(file.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found |= {f"ciphermark-{match[1]}" for text in names if (match := _OURS.match(text))}
    return found - {name}


def _optional(name: str) -> set[str]:
    """The distributions of ours that an extra of one declares."""
    project = tomllib.loads((FOLDERS[name] / "pyproject.toml").read_text())["project"]
    extras = project.get("optional-dependencies", {}).values()
    return {line.partition("[")[0] for extra in extras for line in extra} & FOLDERS.keys()


@pytest.mark.parametrize("name", FOLDERS)
def test_a_distribution_declares_what_it_imports(name: str) -> None:
    """The environment of this repository has all of them, and would not tell; an image has what was declared."""
    assert _imported(name) <= _declared(name) | _optional(name)


def test_the_dashboard_carries_no_library_and_measures_nothing() -> None:
    """Families declare figures and adapters looks in their own folders, which need contract and circuits."""
    assert _closure("ciphermark-dashboards") == {
        "ciphermark-adapters",
        "ciphermark-analysis",
        "ciphermark-circuits",
        "ciphermark-contract",
        "ciphermark-core",
        "ciphermark-dashboards",
        "ciphermark-db",
        "ciphermark-model",
        "ciphermark-present",
        "ciphermark-web",
        "ciphermark-workloads",
    }


def _image(stage: str) -> str:
    text = (REPOSITORY / "Dockerfile").read_text()
    return text.partition(f" AS {stage}\n")[2].partition("\nFROM ")[0]


def test_the_image_of_the_dashboard_installs_that_distribution_alone() -> None:
    installed, _, _ = _image("dashboard").partition("\nUSER ")
    assert re.findall(r"ciphermark-\w+", installed) == ["ciphermark-dashboards"]


def test_images_name_no_library() -> None:
    """Each is what its recipe says."""
    names = {path.parent.name for path in (FOLDERS["ciphermark-adapters"]).glob("*/[!_]*/declaration.py")}
    assert len(names) > 4
    for file in (
        "Dockerfile",
        "deploy/make_environment.py",
        "setup/install.py",
        "setup/stages.py",
        "pyproject.toml",
    ):
        words = set(re.findall(r"\w+", (REPOSITORY / file).read_text().lower()))
        assert names.isdisjoint(words), file
