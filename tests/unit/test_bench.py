"""What the benches take for granted of programs beside them, which compile for minutes: that they are called alike."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import bench.baseline
from bench import __main__ as program
from bench.figures import Figure, Target
from ciphermark_contract.operations import OPERATIONS, read

NATIVE = Path(bench.baseline.__file__).parent / "native"


def test_the_plain_loop_has_the_operations_that_it_is_asked_for():
    asked = {*bench.baseline.OPERATIONS, "rescale"}
    assert {read(name).name for name in asked} <= set(OPERATIONS)
    assert asked <= set(re.findall(r'\{ "(\S+)", loop', (NATIVE / "plain_loop.cpp").read_text()))


def test_every_section_is_in_a_file_of_its_name():
    files = [(NATIVE.parent / f"{name}.py").read_text() for name in program.SECTIONS]
    assert all("\ndef section(" in text for text in files)


def test_a_section_that_fails_does_not_stop_the_others(monkeypatch, capsys):
    def fail(progress):
        yield Figure("before", 1.0, "s", Target(most=0.5))
        raise RuntimeError("no compiler")

    monkeypatch.setattr("bench.loop.section", fail)
    monkeypatch.setattr(
        "bench.storage.section", lambda progress: iter([Figure("after", 1.0, "s", Target(most=2))])
    )
    monkeypatch.setattr("sys.argv", ["bench", "loop", "storage"])
    with pytest.raises(SystemExit, match="sections that failed: loop"):
        program.main()
    printed = capsys.readouterr().out
    assert re.search(r"loop: before +1 s +target ≤ 0.5 s +MISSED", printed)
    assert re.search(r"storage: after +1 s +target ≤ 2 s +met", printed)
    assert "no compiler" in printed
    assert "1 targets met, 1 missed" in printed
