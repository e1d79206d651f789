"""The recipe for a host fact, followed on a copy: two files, and hosts of older journals stay what they were."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from copies import copied, follow, touched

import ciphermark_core

PACKAGE = Path(ciphermark_core.__file__).parent
DECLARATION = (
    "    warnings: tuple[str, ...] = ()",
    "    warnings: tuple[str, ...] = ()\n"
    '    pages: str | None = field(default=None, metadata={"label": "huge pages"})',
)
IMPORT = ("from dataclasses import dataclass", "from dataclasses import dataclass, field")
READING = ("        load_1min=", '        pages="as asked",\n        load_1min=')
PROGRAM = """
import json
from dataclasses import replace
from ciphermark_benchmark.cli.doctor import host_lines
from ciphermark_core import host, wire
from ciphermark_core.run import Host
from ciphermark_db.recording import host_id
facts = host.collect()
before = replace(facts, pages=None)
print(json.dumps([host_lines(facts)[-1], host_id(facts) == host_id(before), host_id(before)]))
print(wire.from_line(wire.to_line(facts), Host) == facts)
"""
TODAY = """
from ciphermark_core import host
from ciphermark_db.recording import host_id
print(host_id(host.collect()))
"""


def answered(program: str, folder: Path | None = None) -> list[str]:
    """The lines that a program prints with the copy in that folder."""
    environment = os.environ if folder is None else {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=120)
    return done.stdout.splitlines()


def test_a_host_fact_is_its_field_and_what_reads_it(tmp_path: Path) -> None:
    copy = copied(PACKAGE, tmp_path)
    follow(copy, "run.py", IMPORT, DECLARATION)
    follow(copy, "host.py", READING)
    assert touched(PACKAGE, copy) == {"run.py", "host.py"}
    line, is_known = answered(PROGRAM, tmp_path)
    printed, is_the_same, of_older = json.loads(line)
    assert (printed, is_the_same, is_known) == (["huge pages", "as asked"], False, "True")
    assert answered(TODAY) == [of_older]
