"""Deletes runs from the database, and their files from this data directory."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from ciphermark_benchmark import archive
from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_core.errors import UserError
from ciphermark_db.database import Database


def delete(data_directory: DataDirectory, database: Database, run_id: str, actor: str | None = None) -> None:
    """Delete a run with its parts on other hosts, its journal and its archive. Raises ``UserError`` if it may be under
    way. Journals in other data directories stay, and commands there record unfinished ones again.
    """
    with _idle(data_directory, run_id):
        for part in database.delete_run(run_id, actor):
            archive.forget(data_directory, part)


def _idle(data_directory: DataDirectory, run_id: str) -> AbstractContextManager[None]:
    """Prevent measurements in the data directory, if the run may be measured there."""
    if not archive.is_unfinished(data_directory, run_id):
        return nullcontext()
    from ciphermark_benchmark.runner.runs import alone_on_host  # loads all modules that measure

    def refuse() -> None:
        raise UserError(
            f"run {run_id} is unfinished, and a run is active in {data_directory.folder}: stop it first"
        )

    return alone_on_host(data_directory, refuse)
