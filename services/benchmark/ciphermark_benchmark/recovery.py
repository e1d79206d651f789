"""Restores the records of runs from a data directory, for a database that lost them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from ciphermark_benchmark import archive
from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.runner.journal import Journal
from ciphermark_benchmark.runner.recorder import Record, record_journal
from ciphermark_core.controls import visible
from ciphermark_core.errors import UserError
from ciphermark_db.database import Database


def record_kept(data_directory: DataDirectory, database: Database) -> Iterator[str]:
    """Record the finished runs and imported archives in the data directory that the database lacks, and name them.
    Those measured here come first, by their start; one that cannot be recorded is reported on standard error.
    """
    recorded = set(database.run_ids())
    paths = [
        path for place in (data_directory, data_directory.of_jobs) for path in place.recorded.glob("*.jsonl")
    ]
    journals = [Journal.read(path) for path in paths if path.stem not in recorded]
    for journal in sorted(journals, key=lambda item: item.header.run.started_at):
        run = journal.header.run
        try:
            record_journal(database, Record(run.id, journal))
        except (UserError, ValueError) as error:
            _report(journal.path, error)
            continue
        yield run.id
    for path in sorted(data_directory.imported.glob("*.jsonl.xz")):
        try:
            header, outcomes = archive.read(path)
            if header.run.id in recorded:
                continue
            database.import_run(header.run, outcomes)
        except UserError as error:
            _report(path, error)
            continue
        yield header.run.id


def _report(path: Path, error: Exception) -> None:
    print(f"Note: {path} cannot be recorded: {visible(str(error))}", file=sys.stderr)
