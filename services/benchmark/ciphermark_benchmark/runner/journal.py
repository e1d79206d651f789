"""The journal: every outcome is first appended to a local file and flushed to disk.

One JSON line per entry: the run, then outcomes. A truncated last line is dropped when the journal is reopened, and its
trial is executed again. On a full or read-only disk, outcomes wait.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import sleep
from typing import Annotated

from msgspec import Meta

from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.data_sets import Known
from ciphermark_core import names, wire
from ciphermark_core.descriptor import Value
from ciphermark_core.errors import UserError
from ciphermark_core.model import Outcome
from ciphermark_core.private import FILE_MODE, private_folder
from ciphermark_core.run import Run

# Temporary errors of a disk, with what to wait for; other errors are permanent.
WAITED_FOR = {
    errno.ENOSPC: "space",
    errno.EDQUOT: "space",
    errno.EROFS: "a disk that can be written",
}
_LOOK_S = 1.0
SIGNED_FORMAT = 2


@dataclass(frozen=True, slots=True)
class Header:
    """The first line: the run, the file of its suite, and the requested variants (empty: all).

    ``data_sets`` are the suite's data sets that are not shipped, ``workloads`` the names of its workloads from files.
    ``options`` are its options that name files, with the values that follow from the files' contents. All three are
    keyed by the suite's text. ``trials`` is the number of outcomes of the whole run on this host, zero if unknown.
    ``format`` is that of an archive: from :data:`SIGNED_FORMAT` on, its last line is a digest.
    """

    run: Run
    origin: str
    variants: tuple[str, ...]
    data_sets: dict[str, Known] = field(default_factory=dict)
    workloads: dict[str, str] = field(default_factory=dict)
    options: dict[str, dict[str, Value]] = field(default_factory=dict)
    trials: int = 0
    format: Annotated[int, Meta(ge=1, le=SIGNED_FORMAT)] = 1


def _say(reason: str | None) -> None:
    """Print to standard error what the journal waits for; the output may be a file on the same disk."""
    if reason is not None:
        with suppress(OSError):
            print(reason, file=sys.stderr, flush=True)


class Journal:
    """An open journal, for one process at a time. ``on_wait`` is called once with what a blocked write waits for, and
    with ``None`` when the wait ends.
    """

    def __init__(self, path: Path, header: Header, on_wait: Callable[[str | None], None] = _say) -> None:
        self.path = path
        self.header = header
        self.on_wait = on_wait

    @classmethod
    def create(cls, data_directory: DataDirectory, header: Header) -> Journal:
        """Create the journal of a new run, first under a temporary name, so that no journal lacks its header."""
        private_folder(data_directory.pending)
        path = data_directory.pending / f"{header.run.id}.jsonl"
        fresh = path.with_suffix(".new")
        _append(fresh, wire.to_line(header))
        fresh.rename(path)
        return cls(path, header)

    @classmethod
    def read(cls, path: Path) -> Journal:
        """The journal in a file that another process may be appending to; read-only."""
        return cls(path, _read_header(path))

    @classmethod
    def reopen(cls, data_directory: DataDirectory, run_id: str) -> Journal:
        """Reopen the journal of an earlier run, named by its id or the beginning of it. A label means the latest
        unfinished run with this label, ``last`` the latest unfinished run.

        Raises ``UserError`` unless exactly one journal matches.
        """
        paths = [*data_directory.pending.glob("*.jsonl"), *data_directory.recorded.glob("*.jsonl")]
        matching = [path for path in paths if path.stem.startswith(run_id)] or _latest_called(
            data_directory.pending, run_id
        )
        if len(matching) == 1:
            _drop_torn_line(matching[0])
            return cls(matching[0], _read_header(matching[0]))
        if matching:
            raise UserError(f"{len(matching)} runs begin with {run_id!r}: name more of the id")
        if finished := _latest_called(data_directory.recorded, run_id):
            raise UserError(f"run {finished[0].stem} ({run_id}) is finished: nothing is left of it to resume")
        unfinished = ", ".join(sorted(path.stem for path in data_directory.pending.glob("*.jsonl"))) or "none"
        raise UserError(
            f"no journal of run {run_id} in {data_directory.folder}; unfinished runs: {unfinished}"
        )

    def append(self, outcome: Outcome) -> None:
        """Append an outcome. On return it survives a crash of program and machine. Blocks while the disk is not
        writable.
        """
        line, is_waiting = wire.to_line(outcome), False
        while (error := self._not_appended(line)) is not None:
            if not is_waiting:
                waited_for = WAITED_FOR[error.errno or 0]
                self.on_wait(f"{self.path}: {error.strerror}; waiting for {waited_for} to save the results")
            is_waiting = True
            sleep(_LOOK_S)
        if is_waiting:
            self.on_wait(None)

    def _not_appended(self, line: bytes) -> OSError | None:
        """The temporary error that prevents appending a line, if any; other errors are raised."""
        try:
            _append(self.path, line)
        except OSError as error:
            if error.errno not in WAITED_FOR:
                raise
            return error
        return None

    def outcomes(self) -> Iterator[Outcome]:
        """All outcomes, in the order they were appended."""
        with self.path.open("rb") as file:
            next(file)
            for line in file:
                if line.endswith(b"\n"):
                    yield wire.from_line(line, Outcome)

    def retire(self, data_directory: DataDirectory) -> None:
        """Move the journal of a finished and recorded run to the recorded journals."""
        private_folder(data_directory.recorded)
        self.path = self.path.rename(data_directory.recorded / self.path.name)


def _append(path: Path, line: bytes) -> None:
    """Append a whole line, or nothing if the disk is full."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, FILE_MODE)
    before = os.fstat(descriptor).st_size
    try:
        while line:
            line = line[os.write(descriptor, line) :]
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, before)
        raise
    finally:
        os.close(descriptor)


def _read_header(path: Path) -> Header:
    with path.open("rb") as file:
        line = file.readline()
    try:
        return wire.from_line(line, Header)
    except ValueError as error:
        raise UserError(f"{path} is not a journal of this version: {error}") from None


def _latest_called(folder: Path, name: str) -> list[Path]:
    """The journal of the latest run in a folder that a name denotes, as a list of one or none."""
    begun = [(_read_header(path).run, path) for path in folder.glob("*.jsonl")]
    called = [(run.started_at, path) for run, path in begun if name in (run.label, names.LATEST)]
    return [max(called)[1]] if called else []


def _drop_torn_line(path: Path) -> None:
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        with path.open("rb+") as file:
            file.truncate(whole)
            os.fsync(file.fileno())
