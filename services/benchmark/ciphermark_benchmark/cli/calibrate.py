"""Measure the costs of operations from which predictions are computed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ciphermark_benchmark.cli.run import run

_EPILOG = """[bold]Example[/bold]  ciphermark calibrate --variant seal

It runs the suite calibration, whose results predictions read, like those of any run with costs at levels.
"""
_SUITE = "calibration"

app = typer.Typer(add_completion=False)


@app.command(epilog=_EPILOG)
def calibrate(
    variant: Annotated[
        list[str] | None,
        typer.Option("--variant", help="Only this variant. Repeatable. Default: all that are installed."),
    ] = None,
    resume: Annotated[str | None, typer.Option(help="Resume this run.")] = None,
) -> None:
    """Measure the costs of operations from which predictions are computed.

    At most ten minutes per variant.
    """
    suite = None if resume else Path(_SUITE)
    run(suite, variant, resume, _SUITE if suite else None, None)
