"""The family ``micro`` is right on every variant that has its operations, and at full size on ``seal``."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ciphermark_adapters import registry
from ciphermark_contract.interfaces import Unsupported
from ciphermark_contract.operations import OPERATIONS
from ciphermark_core.descriptor import Value
from ciphermark_workloads.catalogue import WORKLOADS, AnyWorkload
from ciphermark_workloads.parameters import NOTHING, Override
from ciphermark_workloads.workload import Judgement

from . import cells, harness
from .cells import Cell

pytestmark = pytest.mark.schemes("ckks")

SMALL: Mapping[str, Mapping[str, Value]] = {
    "matrix-product": {"side": 8},
    "matrix-product-packed": {"side": 8},
    "matrix-product-published": {"side": 8},
    "logistic": {"values": 700},
    "logistic-published": {"values": 500},
    "sign": {"values": 700},
    "sign-published": {"values": 500},
    "chi-square": {"people": 12, "markers": 700},
    "chi-square-published": {"people": 12, "markers": 500},
}
SMALL_RING = Override(ring_dimension=1024, security=0)
# TenSEAL insists on security: ten seconds for one, a minute for the other.
TOO_LONG = {("tenseal", "logistic-published"), ("tenseal", "sign-published")}


def _judged(workload: AnyWorkload, variant: str, override: Override) -> Judgement:
    given = workload.input(11, None)
    both = harness.in_process(workload, variant, "ckks", given, override)
    parameters = both.parameters
    assert min(parameters.security_2018, parameters.security_2024) >= (parameters.spec.security or 0)
    return harness.judgement(both, given)


def _names(cell: Cell) -> list[str]:
    return [name for name in SMALL if (cell.declared.variant, name) not in TOO_LONG]


@cells.each("name", _names)
def test_small(variant: str, scheme: str, name: str) -> None:
    """Tolerances are at least six times the largest error seen in thousands of slots, and tails of ckks errors fall at
    least as exp(−1.5·k^(2/3)), k in standard deviations: from 15 to 90 of them is a factor of 10^9.
    """
    workload = WORKLOADS[name].with_options(SMALL[name])
    override = NOTHING if variant == "tenseal" else SMALL_RING
    if set(workload.operations("ckks")) - {*registry.declaration(variant).managed["ckks"]}:
        with pytest.raises(Unsupported):
            _judged(workload, variant, override)
        return
    try:
        judgement = _judged(workload, variant, override)
    except Unsupported as error:
        _require_lacking(variant, str(error))
    else:
        assert judgement.complaint is None


@pytest.mark.variants("seal", "openfhe")
@pytest.mark.parametrize("levels", [10, 12])
@pytest.mark.parametrize("name", ["matrix-product", "matrix-product-packed", "logistic", "sign"])
def test_on_the_published_chain(variant: str, scheme: str, name: str, levels: int) -> None:
    """The circuits take fewer levels than the chain has: they begin lower."""
    workload = WORKLOADS[name].with_options({**SMALL[name], "levels": levels})
    judgement = _judged(workload, variant, SMALL_RING)
    assert judgement.complaint is None


def _require_lacking(variant: str, reason: str) -> None:
    """Circuits that choose their levels may take a primitive that a library does not have: the reason names it."""
    lacking = {*OPERATIONS} - {*registry.declaration(variant).operations["ckks"]}
    assert any(f"has no {name} in ckks" in reason for name in lacking), reason


@pytest.mark.variants("seal")
@pytest.mark.parametrize(
    "name", ["matrix-product", "matrix-product-packed", "logistic", "sign", "chi-square"]
)
def test_full_size(variant: str, name: str) -> None:
    """With the recommended parameters: as large as the published values, at 128 bits by both tables."""
    judgement = _judged(WORKLOADS[name], variant, NOTHING)
    assert judgement.complaint is None


@pytest.mark.extended
@pytest.mark.variants("openfhe")
def test_chi_square_of_two_hundred_people(variant: str) -> None:
    """OpenFHE adds noise to what it decrypts, in proportion to its error: the largest that chi² has to bear."""
    judgement = _judged(WORKLOADS["chi-square"].with_options({"people": 200}), variant, NOTHING)
    assert judgement.complaint is None
    assert judgement.accuracy.max_abs_error < 5e-5
