"""Classifiers: workloads of the family learning, which score the test rows of a data set."""

from __future__ import annotations

from typing import Annotated

import msgspec

from ciphermark_core.model import Parameters
from ciphermark_workloads.data_sets import DataSet
from ciphermark_workloads.learning.quality import quality
from ciphermark_workloads.learning.splitting import TEST_SHARE, split
from ciphermark_workloads.learning.task import Result, Task
from ciphermark_workloads.workload import Judgement, Stage, Truth, Workload

TRAINED_ENCRYPTED = (Stage("train", "state"), Stage("infer"))
TRAINED_IN_THE_CLEAR = (Stage("train", "nothing"), Stage("infer"))


class Options(msgspec.Struct, frozen=True):
    """How a data set is split."""

    test_share: Annotated[
        float,
        msgspec.Meta(ge=0.05, le=0.5, description="share of the rows to test with", extra={"is_newer": True}),
    ] = TEST_SHARE


class Classifier(Workload[Task, Result]):
    """Stage ``train`` makes a model of the training rows, on encrypted data or in the clear; stage ``infer`` scores the
    test rows by it.
    """

    family = "learning"
    Options = Options
    takes_data = True

    def input(self, seed: int, data: DataSet) -> Task:
        """The data set, split by the seed."""
        return split(data, seed, self.options.test_share)

    def plaintext_bytes(self, stage: str, given: Task, parameters: Parameters) -> int:
        """The rows of a stage, labels included where they are encrypted too."""
        if stage == "train":
            return given.train.features.nbytes + given.train.labels.nbytes
        return given.test.features.nbytes

    def judge(self, found: Result, truth: Truth[Task, Result]) -> Judgement:
        return quality(
            found, truth.reference, truth.expected, truth.input.test.labels, truth.parameters.spec.scheme
        )
