"""Deleting runs: from the database, and with them what this data directory keeps of them."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from ciphermark_benchmark import archive
from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_core.errors import UserError
from ciphermark_db.database import Database


def delete(data_directory: DataDirectory, database: Database, run_id: str, actor: str | None = None) -> None:
    """Delete a run with its parts on other hosts, its journal and its archive. Raises ``UserError`` where it may be
    executed now. Journals of other data directories stay, and commands there record an unfinished one again.
    """
    with _idle(data_directory, run_id):
        for part in database.delete_run(run_id, actor):
            archive.forget(data_directory, part)


def _idle(data_directory: DataDirectory, run_id: str) -> AbstractContextManager[None]:
    """Nothing is measured in the data directory meanwhile, where that might be the run."""
    if not archive.is_unfinished(data_directory, run_id):
        return nullcontext()
    from ciphermark_benchmark.runner.runs import alone_on_host  # loads all that measures

    def refuse() -> None:
        raise UserError(
            f"run {run_id} is unfinished, and a run is active in {data_directory.folder}: stop it first"
        )

    return alone_on_host(data_directory, refuse)
