"""Archives: one file with a run and all its records, to keep, send, and read elsewhere.

The content is the run's journal: one JSON line for the run and one for each outcome. A last line has the SHA-256 digest
of all lines before it. The file is compressed by xz. Facts about the place of measurement beyond the host facts, such
as the suite's path, are left out.
"""

from __future__ import annotations

import lzma
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from ciphermark_benchmark import storage
from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.runner.journal import SIGNED_FORMAT, Header, Journal
from ciphermark_core import wire
from ciphermark_core.descriptor import DIMENSIONS
from ciphermark_core.errors import UserError
from ciphermark_core.limits import LARGEST_32
from ciphermark_core.metrics import reason_against
from ciphermark_core.model import Outcome
from ciphermark_core.private import private_folder

if TYPE_CHECKING:
    from hashlib import _Hash as Digest

# 1 GB of journal is more than a week of measuring. The limit stops small files that expand beyond the memory.
_LARGEST_BYTES = 1 << 30
_LONGEST_LINE_BYTES = 1 << 26
_COUNTS = ("max_repetitions", "repetitions", "inputs_per_pass")  # dimensions that views count by
_DIGEST = b'{"sha256":'


def held(data_directory: DataDirectory, run_id: str) -> tuple[Header, list[Outcome]]:
    """A recorded run and its outcomes, measured or imported in this data directory. Raises ``UserError`` if it has
    neither.
    """
    journal = _journal(data_directory, run_id)
    if journal is not None:
        try:
            return journal.header, latest(journal.outcomes())
        except ValueError as error:
            raise UserError(f"{journal.path} is damaged: {error}") from None
    archive = _kept(data_directory, run_id)
    if archive.exists():
        return read(archive)
    raise UserError(
        f"{data_directory.folder} has no samples of run {run_id}: export it where it was measured or imported"
    )


def keep(data_directory: DataDirectory, path: Path, header: Header, outcomes: list[Outcome]) -> None:
    """Keep an imported archive for later exports. Raises ``UserError`` on failure.

    An outcome that was kept before stays, as in the database. Journals keep outcomes that were measured here.
    """
    run_id = header.run.id
    if _journal(data_directory, run_id) is not None:
        return
    archive = _kept(data_directory, run_id)
    if not archive.exists():
        _make(archive.parent)
        _put(path.read_bytes(), archive)  # byte for byte
        return
    first, previous_outcomes = read(archive)
    met = {outcome.trial.id for outcome in previous_outcomes}
    fresh = [outcome for outcome in outcomes if outcome.trial.id not in met]
    if fresh:
        write(first, [*previous_outcomes, *fresh], first.run.label, archive)


def write(header: Header, outcomes: Iterable[Outcome], label: str | None, path: Path) -> None:
    """Write an archive atomically. Raises ``UserError`` on failure."""
    run, origin = replace(header.run, label=label), Path(header.origin).name
    archive_header = replace(header, run=run, origin=origin, format=SIGNED_FORMAT)
    content = b"".join([wire.to_line(archive_header), *(wire.to_line(outcome) for outcome in outcomes)])
    _put(lzma.compress(content + _digest_line(sha256(content)), preset=9), path)


def latest(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """The last outcome of every trial: a trial that was repeated after an interruption has two. Pure."""
    return list({outcome.trial.id: outcome for outcome in outcomes}.values())


def forget(data_directory: DataDirectory, run_id: str) -> None:
    """Delete a run's journal and its imported archive from this data directory, if present."""
    for path in (*_journal_paths(data_directory, run_id), _kept(data_directory, run_id)):
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise UserError(f"{path}: cannot delete: {error.strerror}") from None


def is_unfinished(data_directory: DataDirectory, run_id: str) -> bool:
    """Whether a run's journal still lacks outcomes, or has outcomes to be recorded in the database."""
    return any(
        (place.pending / f"{run_id}.jsonl").exists() for place in (data_directory, data_directory.of_jobs)
    )


def read(path: Path) -> tuple[Header, list[Outcome]]:
    """The run and outcomes of an archive, all checked. Raises ``UserError`` for an invalid file."""
    storage.register_all()
    try:
        with lzma.open(path) as file:
            header, outcomes = _content(path, _lines(path, file))
    except OSError as error:
        raise UserError(f"{path}: cannot read: {error.strerror or error}") from None
    except (lzma.LZMAError, EOFError) as error:
        raise UserError(f"{path} is not an archive of a run, or is truncated: {error}") from None
    except ValueError as error:
        raise UserError(f"{path} is not an archive that this version can read: {error}") from None
    strangers = {item.trial.run_id for item in outcomes} - {header.run.id}
    if strangers:
        raise UserError(f"{path} is damaged: it contains outcomes of another run, {min(strangers)}")
    return header, latest(outcomes)


def _journal(data_directory: DataDirectory, run_id: str) -> Journal | None:
    for path in _journal_paths(data_directory, run_id):
        if path.exists():
            return Journal.read(path)
    return None


def _journal_paths(data_directory: DataDirectory, run_id: str) -> list[Path]:
    """The possible paths of a run's journal."""
    folders = [
        folder
        for place in (data_directory, data_directory.of_jobs)
        for folder in (place.pending, place.recorded)
    ]
    return [folder / f"{run_id}.jsonl" for folder in folders]


def _kept(data_directory: DataDirectory, run_id: str) -> Path:
    return data_directory.imported / f"{run_id}.jsonl.xz"


def _make(folder: Path) -> None:
    try:
        private_folder(folder)
    except OSError as error:
        raise UserError(f"{folder}: cannot create the folder: {error.strerror}") from None


def _put(content: bytes, path: Path) -> None:
    fresh = path.with_name(f".{path.name}.new")
    try:
        fresh.write_bytes(content)
        os.replace(fresh, path)
    except OSError as error:
        raise UserError(f"{path}: cannot write the archive: {error.strerror}") from None


def _content(path: Path, lines: Iterator[bytes]) -> tuple[Header, list[Outcome]]:
    """The run and outcomes in the lines of an archive. Raises ``ValueError`` for other content."""
    first = next(lines, b"")
    header = wire.from_line(first, Header)
    outcomes = [wire.from_line(line, Outcome) for line in _signed(path, header, sha256(first), lines)]
    for item in outcomes:
        if (reason := next(_reasons_against(item), None)) is not None:
            raise ValueError(f"trial {item.trial.id}: {reason}")
    return header, outcomes


def _reasons_against(outcome: Outcome) -> Iterator[str]:
    """The reasons against an outcome: values that no trial yields, and that views and tables could not show."""
    for use in outcome.programs:
        if use.digest != sha256(use.content).hexdigest():
            yield f"program {use.digest} has another digest"
    for sample in outcome.samples:
        if (reason := reason_against(sample.metric, sample.value)) is not None:
            yield f"{sample.phase}: {reason}"
    for name, value in outcome.trial.case.dimensions.items():
        dimension = DIMENSIONS.get(name)
        if dimension is not None and type(value) is not dimension.kind:
            yield f"{name} is {value!r}, no {dimension.kind.__name__}"
        elif name in _COUNTS and not 0 <= int(value) <= LARGEST_32:
            yield f"{name} is {value}; it must be from 0 to {LARGEST_32}"


def _signed(path: Path, header: Header, digest: Digest, lines: Iterator[bytes]) -> Iterator[bytes]:
    """The lines before the digest, which must match them; ``digest`` covers the header's line. Archives of earlier
    formats may lack a digest.
    """
    for line in lines:
        if line.startswith(_DIGEST):
            if line != _digest_line(digest) or next(lines, None) is not None:
                raise UserError(f"{path} is damaged: its digest does not match its content")
            return
        digest.update(line)
        yield line
    if header.format >= SIGNED_FORMAT:
        raise UserError(f"{path} is damaged: its digest is missing, so its end may be, too")


def _digest_line(digest: Digest) -> bytes:
    return wire.to_line({"sha256": digest.hexdigest()})


def _lines(path: Path, file: lzma.LZMAFile) -> Iterator[bytes]:
    """The lines of an archive, one at a time."""
    size = 0
    while line := file.readline(min(_LONGEST_LINE_BYTES, _LARGEST_BYTES - size) + 1):
        size += len(line)
        if size > _LARGEST_BYTES:
            raise UserError(f"{path} unpacks to more than {_LARGEST_BYTES >> 20} MB: not an archive of a run")
        if len(line) > _LONGEST_LINE_BYTES:
            raise UserError(
                f"{path} has a line of more than {_LONGEST_LINE_BYTES >> 20} MB: not an archive of a run"
            )
        yield line
