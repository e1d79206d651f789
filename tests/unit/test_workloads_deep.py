"""Inputs of deep programs: those that lead to values which no bootstrapping keeps are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ciphermark_adapters import registry
from ciphermark_core.errors import Unsupported
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.deep.bootstrapped import Bootstrapped

DEEP = {name: item for name, item in WORKLOADS.items() if isinstance(item, Bootstrapped)}
LARGE = {"resnet-20"}  # a second for its network


@pytest.mark.parametrize("name", [name for name in DEEP if name not in LARGE])
def test_values_that_no_bootstrapping_keeps_are_refused(name: str) -> None:
    workload = DEEP[name]
    parameters = registry.load("cleartext").resolve(workload.parameters("ckks"))
    given = workload.input(2, None)
    workload.require_room(given, parameters)
    large: Any = [30 * np.asarray(item) for item in given]
    with pytest.raises(Unsupported, match=r"bootstraps a value of .* and bootstrapping keeps values in"):
        workload.require_room(large, parameters)
