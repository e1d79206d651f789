"""Serve the REST API until stopped.

CIPHERMARK_HOST and CIPHERMARK_PORT (8100) set the address, CIPHERMARK_BENCHMARK_TOKEN_FILE the token.
"""

from __future__ import annotations

import os
from typing import Annotated

import typer

from ciphermark_benchmark import data_directory as data_directories
from ciphermark_benchmark.api.service import serve as serve_api

app = typer.Typer(add_completion=False)


@app.command(help=__doc__, epilog="[bold]Example[/bold]  ciphermark serve --worker")
def serve(
    worker: Annotated[
        bool, typer.Option("--worker", help="Also start a worker process on this host.")
    ] = False,
) -> None:
    """Serve until stopped."""
    serve_api(data_directories.find(), os.environ, has_worker=worker)
