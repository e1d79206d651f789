"""Inputs of deep programs: those that lead to values which no bootstrapping keeps are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ciphermark_adapters import registry
from ciphermark_core.errors import Unsupported, UserError
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.deep.bootstrapped import Bootstrapped

DEEP = {name: item for name, item in WORKLOADS.items() if isinstance(item, Bootstrapped)}
LARGE = {"resnet-20"}  # a second for its network


@pytest.mark.parametrize(
    ("name", "options", "stages"),
    [("helr", {"iterations": 32}, 32), ("regression", {"iterations": 3}, 3), ("lstm", {"steps": 200}, 100)],
)
def test_lengths_are_options(name: str, options: dict[str, int], stages: int) -> None:
    workload = DEEP[name].with_options(options)
    parameters = registry.load("cleartext").resolve(workload.parameters("ckks"))
    workload.require_room(workload.input(2, None), parameters)
    assert [stage.returns for stage in workload.stages] == [*["state"] * (stages - 1), "result"]


def test_a_sequence_has_whole_stages() -> None:
    with pytest.raises(UserError, match="multiple of 2"):
        DEEP["lstm"].with_options({"steps": 7})


@pytest.mark.parametrize("name", [name for name in DEEP if name not in LARGE])
def test_values_that_no_bootstrapping_keeps_are_refused(name: str) -> None:
    workload = DEEP[name]
    parameters = registry.load("cleartext").resolve(workload.parameters("ckks"))
    given = workload.input(2, None)
    workload.require_room(given, parameters)
    large: Any = [30 * np.asarray(item) for item in given]
    with pytest.raises(Unsupported, match=r"bootstraps a value of .* and bootstrapping keeps values in"):
        workload.require_room(large, parameters)
