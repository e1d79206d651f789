"""What the benches take for granted of programs beside them, which compile for minutes: that they are called alike."""

from __future__ import annotations

import re
from pathlib import Path

import bench.baseline
from ciphermark_contract.operations import OPERATIONS, read

NATIVE = Path(bench.baseline.__file__).parent / "native"


def test_the_plain_loop_has_the_operations_that_it_is_asked_for():
    asked = {*bench.baseline.OPERATIONS, "rescale"}
    assert {read(name).name for name in asked} <= set(OPERATIONS)
    assert asked <= set(re.findall(r'\{ "(\S+)", \[this\]', (NATIVE / "plain_loop.cpp").read_text()))


def test_every_section_is_in_a_file_of_its_name():
    from bench.__main__ import SECTIONS  # which loads scikit-learn

    assert {section.__module__ for section in SECTIONS.values()} == {f"bench.{name}" for name in SECTIONS}
