"""Execute jobs that fit this host, one at a time, until stopped."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Annotated

import typer

from ciphermark_benchmark import data_directory as data_directories
from ciphermark_benchmark import storage
from ciphermark_benchmark.jobs import attempts, execution
from ciphermark_benchmark.jobs import worker as workers
from ciphermark_benchmark.jobs.store import install_queue
from ciphermark_core import host
from ciphermark_core.containment import end_with

app = typer.Typer(add_completion=False)


@app.command(help=__doc__, epilog="[bold]Example[/bold]  ciphermark worker")
def worker(
    stalled_after: Annotated[
        float, typer.Option(help="Seconds without a heartbeat until a worker counts as dead.", min=1)
    ] = 30.0,
    parent: Annotated[int | None, typer.Option(help="Process whose end stops this one.", hidden=True)] = None,
) -> None:
    """Work until stopped."""
    if parent is not None:
        end_with(parent, signal.SIGTERM)
    attempts.configure_log(os.environ)
    own = data_directories.find()
    url = storage.url(own)
    data_directory = data_directories.DataDirectory(
        own.folder, url
    )  # attempts must not restart an embedded server
    storage.connected(data_directory).close()
    install_queue(url)
    execution.recover(data_directory)
    settings = workers.Settings(data_directory, url, stalled_after)
    asyncio.run(workers.BenchmarkWorker(settings, host.collect()).work())
