"""``serve`` and ``worker``: the REST service, and what executes its jobs on this host and others."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Annotated

import typer

from ciphermark_benchmark import home as homes
from ciphermark_benchmark import storage


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("serve", epilog="[bold]Example[/bold]  ciphermark serve --worker")(serve)
    app.command("worker", epilog="[bold]Example[/bold]  ciphermark worker")(worker)


def serve(
    worker: Annotated[
        bool, typer.Option("--worker", help="Also start a worker on this host, as a process of its own.")
    ] = False,
) -> None:
    """Offer the REST API: CIPHERMARK_HOST, CIPHERMARK_PORT (8100) and CIPHERMARK_BENCHMARK_TOKEN_FILE say where and
    to whom.
    """
    from ciphermark_benchmark.api.service import serve as serve_api  # heavy, and only needed here

    serve_api(homes.find(), os.environ, has_worker=worker)


def worker(
    stalled_after: Annotated[
        float, typer.Option(help="Seconds without a heartbeat after which a worker is taken for dead.", min=1)
    ] = 30.0,
    parent: Annotated[
        int | None, typer.Option(help="The process to end with, which has started this one.", hidden=True)
    ] = None,
) -> None:
    """Execute jobs that this host meets the needs of, one at a time, until told to end."""
    from ciphermark_benchmark.jobs import execution, log, queue  # heavy, and only needed here
    from ciphermark_benchmark.jobs import worker as workers
    from ciphermark_core import host
    from ciphermark_measure.confinement import end_with

    if parent is not None:
        end_with(parent, signal.SIGTERM)
    log.configure(os.environ)
    found = homes.find()
    url = storage.url(found)
    home = homes.Home(found.folder, url)  # whoever starts an embedded server again is not an attempt
    storage.connected(home).close()
    queue.install(url)
    execution.recover(home)
    settings = workers.Settings(home, url, stalled_after)
    asyncio.run(workers.BenchmarkWorker(settings, host.collect()).work())
