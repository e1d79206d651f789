"""What classifiers are given, and what they say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ciphermark_circuits.layout import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Rows of a data set: ``features`` of shape (rows, columns), ``labels`` of shape (rows,), each 0.0 or 1.0.

    A table equals itself alone, so that it can be the key of what was found out about it.
    """

    features: Floats
    labels: Floats


@dataclass(frozen=True, slots=True)
class Task:
    """A data set, split: features are z-scores by the mean and deviation of the training rows."""

    train: Table
    test: Table


@dataclass(frozen=True, slots=True)
class Result:
    """What a model says about the test rows: a score each (positive: class 1), and its parameters where known.

    ``weights`` has shape (1 + columns,): the score of a row x is weights[0] + weights[1:]·x.
    """

    scores: Floats
    weights: Floats | None = None

    @property
    def labels(self) -> Floats:
        """The class of each row, 0.0 or 1.0."""
        return (self.scores > 0).astype(np.float64)
