"""What several tests lack is one skip."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TESTS = """
import pytest
pytestmark = pytest.mark.needs("there is no moon")

def test_its_light(): raise AssertionError
def test_its_pull(): raise AssertionError
def test_its_far_side(): raise AssertionError
"""
OTHERS = """
import pytest

@pytest.mark.needs(None)
def test_the_sun(): pass

@pytest.mark.needs("there is no comet")
def test_a_tail(): raise AssertionError
"""


def test_the_first_test_that_lacks_something_says_so_for_all(tmp_path: Path) -> None:
    (tmp_path / "test_moon.py").write_text(TESTS)
    (tmp_path / "test_others.py").write_text(OTHERS)
    command = ["-m", "pytest", "-p", "needs", "-p", "no:cacheprovider", "-rs", "-c", os.devnull]
    done = subprocess.run(
        [sys.executable, *command, "--strict-markers", f"--rootdir={tmp_path}", str(tmp_path)],
        env=os.environ
        | {"PYTHONPATH": str(Path(__file__).parents[1]), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "1 passed, 2 skipped" in done.stdout
    assert "there is no moon (tests that need it: 3)" in done.stdout
    assert "there is no comet (tests that need it: 1)" in done.stdout
