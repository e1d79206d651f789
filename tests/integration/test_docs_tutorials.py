"""The tutorial of somebody who chooses a library, from a question to a report; every command is executed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from command import REPOSITORY, Ciphermark
from documents import steps
from processes import PATIENCE_OF_RUNS_S

PAGE = REPOSITORY / "docs" / "tutorials" / "choose-a-library.md"


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory, new_url: Any) -> dict[str, str]:
    """What each command of the page prints."""
    folder = tmp_path_factory.mktemp("choosing")
    # Shipped libraries alone: `suite new` would ask the planted ones, too.
    ciphermark = Ciphermark(folder / "data", new_url(), {"CIPHERMARK_ADAPTER_PATH": ""})
    outputs = {}
    for step in steps(PAGE):
        name, *words = shlex.split(step.command)
        assert name == "ciphermark"
        words = [str(folder / word) if Path(word).suffix else word for word in words]
        outputs[step.command] = ciphermark(*words, timeout_s=PATIENCE_OF_RUNS_S).out
    assert (folder / "decision.html").stat().st_size > 10_000
    return outputs


@pytest.mark.extended
def test_the_tables_answer_its_questions(printed: dict[str, str]) -> None:
    """Times of the whole computation, room to spare, memory, and sizes."""
    (results,) = (text for command, text in printed.items() if command == "ciphermark results last")
    for topic in ("mul", "MB", "ciphertext", "relinearization_keys"):
        assert re.search(rf"\b{topic}\b", results), topic
