"""A client's inputs, and the data for judging them: made once for each source."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ciphermark_core.errors import Unsupported, UserError
from ciphermark_core.model import Accuracy, Parameters
from ciphermark_measure.parties.messages import Source
from ciphermark_workloads.catalogue import AnyWorkload
from ciphermark_workloads.data_sets import DATA_SETS, DataSet, read
from ciphermark_workloads.programs import equal_arrays
from ciphermark_workloads.workload import Arrays, Judgement, Truth

Finder = Callable[[str], DataSet]


@dataclass(frozen=True, slots=True)
class Subject:
    """The inputs of a pass with the data for judging them, and the server's plaintext data for each stage."""

    source: Source
    truths: tuple[Truth[Any, Any], ...]
    public: Mapping[str, Arrays]

    @property
    def inputs(self) -> list[Any]:
        """The inputs without that data."""
        return [truth.input for truth in self.truths]


def inputs_of(workload: AnyWorkload, source: Source, inputs_per_pass: int, find: Finder) -> list[Any]:
    """The inputs of a pass, each from a seed of its own.

    Raises ``UserError`` where a workload needs a data set and none is named, and for a given input that the workload
    does not accept.
    """
    if source.given is not None:
        if inputs_per_pass != 1:
            raise UserError(f"one input is given: use inputs_per_pass: 1, not {inputs_per_pass}")
        return [workload.given_input(source.given)]
    if workload.takes_data and source.data_set is None:
        raise UserError(f"{workload.name} computes on a data set: name one")
    data = find(source.data_set) if workload.takes_data and source.data_set is not None else None
    return [workload.input(source.seed + i, data) for i in range(inputs_per_pass)]


def subject(workload: AnyWorkload, source: Source, inputs: Sequence[Any], parameters: Parameters) -> Subject:
    """The subject of these inputs; raises ``Unsupported`` for inputs that do not fit the parameters."""
    for given in inputs:
        workload.require_room(given, parameters)
    truths = tuple(
        Truth(given, workload.reference(given), workload.expected(given, parameters), parameters)
        for given in inputs
    )
    public = {
        stage.name: shared_public(workload, stage.name, inputs, parameters)
        for stage in workload.server_stages
    }
    return Subject(source, truths, public)


def shared_public(workload: AnyWorkload, stage: str, inputs: Sequence[Any], parameters: Parameters) -> Arrays:
    """The server's plaintext data for a stage: the same for all inputs of a pass, since one program computes on them.

    Raises ``Unsupported`` where it differs.
    """
    first, *others = (workload.public(stage, given, parameters) for given in inputs)
    if any(not equal_arrays(first, other) for other in others):
        raise Unsupported(
            f"{workload.name}: the inputs of a pass give the server different public data in stage {stage}, and one "
            "program computes on all of them: use inputs_per_pass: 1"
        )
    return first


def judged(workload: AnyWorkload, found: Sequence[Any], truths: Sequence[Truth[Any, Any]]) -> Judgement:
    """The judgement of the inputs of a pass: the worst accuracy, the first complaint, and the mean of each result."""
    judgements = [workload.judge(output, truth) for output, truth in zip(found, truths, strict=True)]
    if len(judgements) == 1:
        return judgements[0]
    complaints = [f"input {i}: {item.complaint}" for i, item in enumerate(judgements) if item.complaint]
    return Judgement(
        _worst([item.accuracy for item in judgements]),
        complaints[0] if complaints else None,
        {name: float(np.mean([item.results[name] for item in judgements])) for name in judgements[0].results},
    )


def _worst(several: Sequence[Accuracy]) -> Accuracy:
    precisions = [item.precision_bits for item in several if item.precision_bits is not None]
    return Accuracy(
        max_abs_error=max(item.max_abs_error for item in several),
        incorrect_slots=sum(item.incorrect_slots for item in several),
        tolerance=min(item.tolerance for item in several),
        precision_bits=min(precisions, default=None),
    )


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}", re.ASCII)


def finder(folder: Path | None) -> Callable[[str], DataSet]:
    """A function that finds data sets by name: the packaged ones, and ``NAME.csv`` in ``folder``.

    The function raises ``UserError`` for a data set that does not exist or cannot be read.
    """
    return lambda name: _found(name, folder)


def keep(folder: Path, name: str, data: bytes) -> None:
    """Store a data set in ``folder``, readable by its owner alone; replaces one of that name as a whole."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor, partial = tempfile.mkstemp(dir=folder)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    os.replace(partial, folder / f"{name}.csv")


def kept(folder: Path, name: str) -> Path | None:
    """The file of a data set in ``folder``; ``None`` where it does not exist, and for an invalid name."""
    path = folder / f"{name}.csv"
    return path if _NAME.fullmatch(name) and path.is_file() else None


def _found(name: str, folder: Path | None) -> DataSet:
    if name in DATA_SETS:
        return DATA_SETS[name]()
    path = kept(folder, name) if folder is not None else None
    if path is not None:
        return read(path.read_text(encoding="utf-8"), name)
    names = ", ".join(sorted(DATA_SETS))
    raise UserError(f"there is no data set {name!r} here; shipped: {names}")
