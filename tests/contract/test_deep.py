"""The family ``deep`` agrees with the clear run of its polynomials on every variant that bootstraps, in small rings."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ciphermark_circuits import helr
from ciphermark_core.descriptor import Value
from ciphermark_measure.parties.in_process import InProcess
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.deep.bootstrapped import Ring

from . import cells, harness
from .cells import Cell

pytestmark = pytest.mark.schemes("ckks")

# Options, and levels between two bootstrappings.
SMALL: Mapping[str, tuple[Mapping[str, Value], int]] = {
    "helr": ({"features": 7, "samples": 60}, helr.DEPTH),
}
RING = 512


def _names(cell: Cell) -> list[str]:
    return [*SMALL] if "bootstrap" in cell.declared.operations[cell.scheme] else []


@cells.each("name", _names)
def test_small(variant: str, scheme: str, name: str) -> None:
    """Tolerances are at least six times the largest error seen, and tails of ckks errors fall at least as
    exp(−1.5·k^(2/3)), k in standard deviations.
    """
    options, levels = SMALL[name]
    workload = WORKLOADS[name].with_options(options)
    given = workload.input(3, None)
    both = InProcess(
        workload, harness.adapter(variant), Ring(levels + 1, RING, level_budget=(2, 2)).spec, given
    )
    nodes = [node.operation for item in both.programs.values() for node in item.program.nodes]
    assert "bootstrap" in nodes
    assert harness.judgement(both, given).complaint is None
