"""Deleting runs: from the database, and with them what this home keeps of them."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from ciphermark_benchmark import archive
from ciphermark_benchmark.home import Home
from ciphermark_core.errors import UserError
from ciphermark_db.database import Database


def delete(home: Home, database: Database, run_id: str, actor: str | None = None) -> None:
    """Delete a run with its parts on other hosts, its journal and its archive. Raises ``UserError`` where it may be
    executed now. Journals of other homes stay, and commands there record an unfinished one anew.
    """
    with _idle(home, run_id):
        for part in database.delete_run(run_id, actor):
            archive.forget(home, part)


def _idle(home: Home, run_id: str) -> AbstractContextManager[None]:
    """Nothing is measured in the home meanwhile, where that might be the run."""
    if not archive.is_unfinished(home, run_id):
        return nullcontext()
    from ciphermark_benchmark.runner.runs import alone_on_host  # loads all that measures

    def refuse() -> None:
        raise UserError(f"run {run_id} is unfinished, and a run is executed in {home.folder}: end it first")

    return alone_on_host(home, refuse)
