"""Base images may be pinned by digest: every stage and service takes them from one variable each."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

REPOSITORY = Path(__file__).parents[2]
DOCKERFILE = (REPOSITORY / "Dockerfile").read_text()
PROJECT = yaml.safe_load((REPOSITORY / "docker-compose.yml").read_text())


def test_every_stage_begins_with_the_argument_or_another_stage() -> None:
    stages = re.findall(r"^FROM (\S+) AS (\S+)$", DOCKERFILE, re.MULTILINE)
    assert len(stages) == len(re.findall(r"^FROM ", DOCKERFILE, re.MULTILINE))
    names = {name for _, name in stages}
    assert {base for base, _ in stages} - names == {"${PYTHON_IMAGE}"}
    (argument,) = re.findall(r"^ARG PYTHON_IMAGE=(\S+)$", DOCKERFILE, re.MULTILINE)
    assert DOCKERFILE.index("ARG PYTHON_IMAGE") < DOCKERFILE.index("\nFROM ")  # else it is of one stage
    assert PROJECT["x-base"] == {"PYTHON_IMAGE": f"${{CIPHERMARK_PYTHON_IMAGE:-{argument}}}"}


def test_every_image_of_the_project_is_built_with_it_or_named_by_a_variable() -> None:
    for name, service in PROJECT["services"].items():
        if "build" in service:
            assert service["build"]["args"] == PROJECT["x-base"], name
        else:
            assert re.fullmatch(r"\$\{CIPHERMARK_[A-Z]+_IMAGE:-\S+\}", service["image"]), name
