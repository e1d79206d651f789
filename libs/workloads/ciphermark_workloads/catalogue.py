"""The workloads, by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from ciphermark_workloads.learning import training
from ciphermark_workloads.learning.linear_plain import PlainLinear
from ciphermark_workloads.learning.lmc_encrypted import EncryptedLinearMeans
from ciphermark_workloads.learning.lmc_per_row import PerRowLinearMeans
from ciphermark_workloads.learning.lr_encrypted import K3, K5, LR_K3, LR_K5
from ciphermark_workloads.learning.lr_fixed import FixedPointRegression
from ciphermark_workloads.learning.workload import Workload

_ALL: tuple[Workload, ...] = (
    PlainLinear(
        "lmc-plain",
        "linear means, trained in the clear",
        training.linear_means,
        ("bfv", "bgv", "ckks"),
    ),
    EncryptedLinearMeans(),
    PlainLinear(
        "lr-k3-plain",
        "logistic regression, 3 steps in the clear",
        partial(training.logistic_regression, descent=K3),
        ("ckks",),
    ),
    LR_K3,
    PlainLinear(
        "lr-k5-plain",
        "logistic regression, 5 steps in the clear",
        partial(training.logistic_regression, descent=K5),
        ("ckks",),
    ),
    LR_K5,
    FixedPointRegression(),
    PerRowLinearMeans("lmc-per-row-plain", "linear means as published, trained in the clear", ("infer",)),
    PerRowLinearMeans(
        "lmc-per-row-encrypted", "linear means as published, trained on encrypted data", ("train", "infer")
    ),
)
WORKLOADS: Mapping[str, Workload] = {workload.name: workload for workload in _ALL}
