"""The family ``deep`` agrees with the clear run of its polynomials on every variant that bootstraps, in small rings."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ciphermark_circuits import helr, recurrent
from ciphermark_measure.parties.in_process import InProcess
from ciphermark_workloads.deep.bootstrapped import Ring
from ciphermark_workloads.deep.helr import Helr
from ciphermark_workloads.deep.lstm import Lstm
from ciphermark_workloads.workload import AnyWorkload

from . import cells, harness
from .cells import Cell

pytestmark = pytest.mark.schemes("ckks")

# Short programs with a bootstrap each, and the levels that they need between two.
SMALL: Mapping[str, tuple[AnyWorkload, int]] = {
    "helr": (Helr(3).with_options({"features": 7, "samples": 60}), helr.DEPTH),
    "lstm": (Lstm(4).with_options({"size": 8}), sum(recurrent.DEPTH)),
}
RING = 512


def _names(cell: Cell) -> list[str]:
    return [*SMALL] if "bootstrap" in cell.declared.operations[cell.scheme] else []


@cells.each("name", _names)
def test_small(variant: str, scheme: str, name: str) -> None:
    """Tolerances are at least six times the largest error seen, and tails of ckks errors fall at least as
    exp(−1.5·k^(2/3)), k in standard deviations.
    """
    workload, levels = SMALL[name]
    given = workload.input(3, None)
    both = InProcess(
        workload, harness.adapter(variant), Ring(levels + 1, RING, level_budget=(2, 2)).spec, given
    )
    nodes = [node.operation for item in both.programs.values() for node in item.program.nodes]
    assert "bootstrap" in nodes
    assert harness.judgement(both, given).complaint is None
