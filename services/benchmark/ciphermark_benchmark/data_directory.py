"""The data directory of Ciphermark on this machine."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

DATA_VARIABLE = "CIPHERMARK_DATA"
DATABASE_VARIABLE = "CIPHERMARK_DATABASE_URL"
_FOLDER = ".ciphermark"


@dataclass(frozen=True, slots=True)
class DataDirectory:
    """The data directory: journals, and the embedded database unless ``database_url`` names a server."""

    folder: Path
    database_url: str | None

    @property
    def pending(self) -> Path:
        """Journals whose outcomes may not all be in the database yet."""
        return self.folder / "journal" / "pending"

    @property
    def recorded(self) -> Path:
        """Journals of finished runs, completely recorded in the database."""
        return self.folder / "journal" / "recorded"

    @property
    def imported(self) -> Path:
        """Archives of runs that were measured elsewhere, ``RUN.jsonl.xz``, kept for later exports."""
        return self.folder / "journal" / "imported"

    @property
    def of_jobs(self) -> DataDirectory:
        """The data directory of the journals of jobs, apart from those of commands, which record outcome by outcome."""
        return DataDirectory(self.folder / "service", self.database_url)

    @property
    def data_sets(self) -> Path:
        """Copies of the data sets that suites took from files, ``NAME.csv``."""
        return self.folder / "data-sets"

    @property
    def workloads(self) -> Path:
        """Copies of the workloads that suites took from files, ``NAME.py``."""
        return self.folder / "workloads"

    @property
    def checkpoints(self) -> Path:
        """States of unfinished trials of long programs, ``RUN/TRIAL``."""
        return self.folder / "checkpoints"

    @property
    def secret_keys(self) -> Path:
        """Secret keys of these trials, written and read by the client's party alone."""
        return self.folder / "secret-keys"

    @property
    def files(self) -> Path:
        """Copies of the files that options of workloads named in suites, ``NAME.SUFFIX``."""
        return self.folder / "files"


def find() -> DataDirectory:
    """``CIPHERMARK_DATA``; else the closest ``.ciphermark`` in or above the working directory; else the
    user's data directory."""
    url = os.environ.get(DATABASE_VARIABLE) or None
    named = os.environ.get(DATA_VARIABLE)
    if named:
        return DataDirectory(Path(named).resolve(), url)
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / _FOLDER).is_dir():
            return DataDirectory(folder / _FOLDER, url)
    data = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return DataDirectory(Path(data) / "ciphermark", url)
