"""The recipe for a command, followed on a copy: one file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from copies import copied, touched

import ciphermark_benchmark

FILE = '''
"""Greet somebody."""

import typer

app = typer.Typer(add_completion=False)


@app.command()
def greet(name: str) -> None:
    """Print a greeting."""
    typer.echo(f"hello, {name}")
'''


def test_a_command_is_one_file(tmp_path: Path) -> None:
    ours = Path(ciphermark_benchmark.__file__).parent
    package = copied(ours, tmp_path)
    (package / "cli" / "greet.py").write_text(FILE.lstrip())
    assert touched(ours, package) == {"cli/greet.py"}

    def printed(*arguments: str) -> str:
        command = [sys.executable, "-m", "ciphermark_benchmark.cli.main", *arguments]
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout

    assert "greet Greet somebody." in " ".join(printed("--help").split())
    assert printed("greet", "Ada") == "hello, Ada\n"
