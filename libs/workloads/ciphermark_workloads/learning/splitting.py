"""Training and test rows."""

from __future__ import annotations

import numpy as np

from ciphermark_core.errors import Unsupported
from ciphermark_workloads.data_sets.reader import DataSet
from ciphermark_workloads.learning.task import Table, Task

TEST_SHARE = 0.2


def split(data: DataSet, seed: int, test_share: float = TEST_SHARE) -> Task:
    """A random split; features become z-scores by mean and deviation of the training rows.

    A feature that is constant in the training rows becomes 0. Raises ``Unsupported`` where all are, where the training
    rows are all of one class, or where no row is left to test.
    """
    count = len(data.labels)
    order = np.random.default_rng(seed).permutation(count)
    tests = round(test_share * count)
    test, train = order[:tests], order[tests:]
    if not tests or len(np.unique(data.labels[train])) < 2:
        raise Unsupported(
            f"{data.name}: {count} rows cannot be split by seed {seed} into {count - tests} training rows of both "
            f"classes and {tests} test rows: use more rows or another seed"
        )
    rows = data.features[train]
    deviation = rows.std(axis=0)
    deviation[(np.ptp(rows, axis=0) == 0) | (deviation == 0)] = np.inf  # differences whose squares are 0, too
    if np.isinf(deviation).all():
        raise Unsupported(
            f"{data.name}: no column has two different values in the {len(train)} training rows of seed {seed}: there "
            "is nothing to learn from"
        )
    scores = (data.features - rows.mean(axis=0)) / deviation
    return Task(*(Table(scores[chosen], data.labels[chosen]) for chosen in (train, test)))
