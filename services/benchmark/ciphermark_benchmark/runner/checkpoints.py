"""Checkpoints of long trials: the state after a stage, on disk, from which an interrupted trial goes on.

Ciphertexts and results are here; the client's party keeps its secret key in a folder of its own.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ciphermark_benchmark import __version__
from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.parties.stage_costs import CollectedIn
from ciphermark_core import wire
from ciphermark_core.model import LibraryInfo, Parameters, ProgramUse, Sample, Trial
from ciphermark_core.private import private_folder
from ciphermark_measure.parties import messages
from ciphermark_measure.parties.blobs import Blob, BlobError, Blobs, BlobStore
from ciphermark_measure.parties.messages import State

_FILE = "checkpoint.json"


class OtherProgram(Exception):
    """A checkpoint does not fit its trial; the text gives the reason."""


@dataclass(frozen=True, slots=True)
class Basis:
    """What a checkpoint holds for: another trial, version, parameters or programs would compute something else."""

    trial: Trial
    software: str
    library: LibraryInfo
    parameters: Parameters
    programs: tuple[str, ...]

    @classmethod
    def of(cls, trial: Trial, keys: messages.KeysMade) -> Basis:
        """That of a trial and its keys."""
        return cls(trial, __version__, keys.library, keys.parameters, keys.programs)

    def require(self, current: Basis) -> None:
        """Raise :class:`OtherProgram` unless both are equal."""
        names = {
            "trial": "case",
            "software": "version of Ciphermark",
            "library": "build of the library",
            "parameters": "parameter set",
            "programs": "program",
        }
        for name, words in names.items():
            if getattr(self, name) != getattr(current, name):
                raise OtherProgram(f"it belongs to another {words}")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A trial after a stage: ``ended`` stages of the pass, their ``state``, and what was measured until then. After a
    whole pass there is no state.

    ``pass_samples`` are those of the unfinished pass, ``executed`` the programs so far. ``warmups`` passes did not
    count; the others have taken ``elapsed_s``, and ``corrected_s`` on an undisturbed host.
    """

    basis: Basis
    ended: int
    state: State | None
    samples: tuple[Sample, ...]
    pass_samples: tuple[Sample, ...]
    executed: tuple[ProgramUse, ...]
    warmups: int
    elapsed_s: tuple[float, ...]
    corrected_s: tuple[float, ...]
    durations_s: dict[str, float]
    resumptions: int
    collected: tuple[CollectedIn, ...] = ()

    @property
    def blobs(self) -> tuple[Blob, ...]:
        """The ciphertexts of the state."""
        return self.state.outputs if self.state is not None else ()


class Checkpoints:
    """The checkpoints in a data directory, the latest of each trial."""

    def __init__(self, data_directory: DataDirectory) -> None:
        self._folder = data_directory.checkpoints
        self._secret_keys = data_directory.secret_keys

    def begin(self, trial: Trial) -> None:
        """Make the folder of a trial before its secret key exists: a sweep of another command then keeps the key."""
        with suppress(OSError):
            private_folder(self._of(trial))

    def keep(self, checkpoint: Checkpoint, blobs: Blobs) -> None:
        """Replace the checkpoint of a trial, with its ciphertexts from ``blobs``. A full disk leaves the former one."""
        folder = self._of(checkpoint.basis.trial)
        with suppress(OSError, BlobError):
            private_folder(folder)
            store = BlobStore(folder)
            for blob in checkpoint.blobs:
                store.put_parts(blobs.get_parts(blob))
            partial = folder / f".{_FILE}"
            with partial.open("wb") as file:
                file.write(wire.to_line(checkpoint))
                file.flush()
                os.fsync(file.fileno())
            partial.rename(folder / _FILE)
            current = {_FILE, *(blob.digest for blob in checkpoint.blobs)}
            for path in folder.iterdir():
                if path.name not in current:
                    path.unlink()

    def of(self, trial: Trial) -> Checkpoint | None:
        """The checkpoint of a trial; ``None`` without one. Raises :class:`OtherProgram` for an unreadable one."""
        try:
            line = (self._of(trial) / _FILE).read_bytes()
            return wire.from_line(line, Checkpoint)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise OtherProgram(f"it is unreadable: {error}") from None

    def restore(self, checkpoint: Checkpoint, blobs: Blobs) -> None:
        """Copy the ciphertexts of a checkpoint to ``blobs``. Raises :class:`OtherProgram` for damaged ones."""
        store = BlobStore(self._of(checkpoint.basis.trial))
        try:
            for blob in checkpoint.blobs:
                blobs.put_parts(store.get_parts(blob))
        except BlobError as error:
            raise OtherProgram(f"its ciphertexts are damaged: {error}") from None

    def remove(self, trial: Trial) -> None:
        """Remove the checkpoint of a trial, and its secret key."""
        folder = self._of(trial)
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):  # of a run with other checkpoints
            folder.parent.rmdir()
        for name in (trial.id, f".{trial.id}"):
            (self._secret_keys / name).unlink(missing_ok=True)

    def sweep(self, unfinished: Callable[[], Collection[str]]) -> None:
        """Remove the checkpoints of all but these runs, and secret keys of other trials. Keys are listed first, since a
        run that begins meanwhile has its journal before a folder, and the folder before a key.
        """
        keys, folders = [*self._secret_keys.glob("*")], [*self._folder.glob("*")]
        runs = unfinished()
        for folder in folders:
            if folder.name not in runs:
                shutil.rmtree(folder, ignore_errors=True)
        kept = {folder.name for folder in self._folder.glob("*/*")}
        for key in keys:
            if key.name.removeprefix(".") not in kept:
                key.unlink(missing_ok=True)

    def _of(self, trial: Trial) -> Path:
        return self._folder / trial.run_id / trial.id
