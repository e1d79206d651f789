"""Where a client's rows come from: the data sets that are shipped, and a folder of the user's own."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from ciphermark_circuits.data_sets import DATA_SETS, read, split
from ciphermark_circuits.data_sets import DataSet as Rows
from ciphermark_circuits.workload import Task
from ciphermark_core.errors import UserError
from ciphermark_measure.parties.messages import DataSet

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)


def tasks(folder: Path | None) -> Callable[[DataSet], Task]:
    """Finds data sets and splits them: those that are shipped, and ``NAME.csv`` in ``folder``.

    What it returns raises ``UserError`` for a data set that is nowhere, or that cannot be read or split.
    """

    def task(data: DataSet) -> Task:
        return split(_found(data.name, folder), data.split_seed, data.test_share)

    return task


def _found(name: str, folder: Path | None) -> Rows:
    if name in DATA_SETS:
        return DATA_SETS[name]()
    if folder is not None and _NAME.fullmatch(name):
        path = folder / f"{name}.csv"
        if path.is_file():
            return read(path.read_text(encoding="utf-8"), name)
    known = ", ".join(sorted(DATA_SETS))
    raise UserError(f"there is no data set {name!r} here; shipped: {known}")
