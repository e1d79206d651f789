"""The family ``deep`` agrees with the clear run of its polynomials on every variant that bootstraps, in small rings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from ciphermark_adapters import registry
from ciphermark_circuits import helr, recurrent
from ciphermark_circuits.regression import Sigmoid
from ciphermark_contract.bootstrapping_memory import needs
from ciphermark_contract.keys import KeyRequest
from ciphermark_core import host
from ciphermark_measure import confinement
from ciphermark_measure.parties.in_process import InProcess
from ciphermark_workloads.deep import bootstrap
from ciphermark_workloads.deep.bootstrapped import Ring
from ciphermark_workloads.deep.helr import Helr
from ciphermark_workloads.deep.lstm import Lstm
from ciphermark_workloads.deep.regression import Regression
from ciphermark_workloads.deep.resnet import ResNet, Size
from ciphermark_workloads.programs import all_traced, keys_of
from ciphermark_workloads.workload import AnyWorkload

from . import cells, harness
from .cells import Cell

pytestmark = pytest.mark.schemes("ckks")

NETWORK = Size(side=16, channels=1, blocks=1, degree=15, colors=1)
ALONE = {workload.name: workload for workload in bootstrap.WORKLOADS}
RING = 512


def _ring(levels: int) -> Ring:
    """A small ring with these levels between two bootstrappings."""
    return Ring(levels + 1, RING, level_budget=(2, 2))


# Short programs with a bootstrap each.
SMALL: Mapping[str, tuple[AnyWorkload, Ring]] = {
    "packed-bootstrap": (ALONE["packed-bootstrap"], _ring(1)),
    "unpacked-bootstrap": (
        ALONE["unpacked-bootstrap"],
        replace(_ring(1), slots=2, level_budget=(1, 1)),
    ),
    "helr": (Helr().with_options({"features": 7, "samples": 60}), _ring(helr.DEPTH)),
    "regression": (
        Regression(5).with_options({"features": 7, "samples": 60, "iterations": 3}),
        _ring(Sigmoid(5).depth),
    ),
    "lstm": (Lstm().with_options({"size": 8, "steps": 4}), _ring(sum(recurrent.DEPTH))),
    "resnet-20": (ResNet(NETWORK), _ring(NETWORK.levels)),
}
# The published lengths, for which 7 features would lead to values outside of [−1, 1].
FULL: Mapping[str, tuple[AnyWorkload, Ring]] = {
    "helr": (
        Helr().with_options({"features": 63, "samples": 16, "iterations": 32}),
        _ring(helr.DEPTH),
    ),
    "lstm": (Lstm().with_options({"size": 8, "steps": 200}), _ring(sum(recurrent.DEPTH))),
    "regression": (
        Regression(5).with_options({"features": 7, "samples": 60, "iterations": 10}),
        _ring(Sigmoid(5).depth),
    ),
}
MINUTES = {("openfhe", "lstm"), ("openfhe", "regression")}  # and more
# A minute, by the wrapper of its encodings.
TOO_LONG = {("openfhe", "resnet-20")}


def _names(cell: Cell) -> list[str]:
    able = "bootstrap" in cell.declared.operations[cell.scheme]
    return [name for name in SMALL if able and (cell.declared.variant, name) not in TOO_LONG]


def _full_names(cell: Cell) -> list[str]:
    return [name for name in FULL if _names(cell) and (cell.declared.variant, name) not in MINUTES]


def _long_names(cell: Cell) -> list[str]:
    return [name for variant, name in TOO_LONG if variant == cell.declared.variant]


def _require_right(variant: str, workload: AnyWorkload, ring: Ring) -> None:
    """Tolerances are at least six times the largest error seen, and tails of ckks errors fall at least as
    exp(−1.5·k^(2/3)), k in standard deviations.
    """
    given = workload.input(4, None)
    chosen = ring.precise if registry.declaration(variant).chooses_primes else ring
    both = InProcess(workload, harness.adapter(variant), chosen.spec, given)
    nodes = [node.operation for item in both.programs.values() for node in item.program.nodes]
    assert "bootstrap" in nodes
    assert harness.judgement(both, given).complaint is None


@cells.each("name", _names)
def test_small(variant: str, scheme: str, name: str) -> None:
    _require_right(variant, *SMALL[name])


def _bootstrapping_libraries(cell: Cell) -> list[str]:
    return ["helr"] if _names(cell) and cell.declared.footprint is not None else []


@cells.each("name", _bootstrapping_libraries)
def test_memory_is_predicted_before_keys_are_generated(
    variant: str, scheme: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    workload, ring = SMALL[name]
    declared, adapter = registry.declaration(variant), harness.adapter(variant)
    spec = (ring.precise if declared.chooses_primes else ring).spec
    given, parameters = workload.input(4, None), adapter.resolve(spec)
    programs = all_traced(workload, given, parameters, declared).values()
    keys = keys_of(programs)
    assert declared.footprint is not None
    found = needs(declared.footprint, [item.program for item in programs], keys)
    assert found is not None
    written = sum(map(len, adapter.key_owner(parameters, keys).public_material()))
    assert found.keys == pytest.approx(written, rel=0.1)

    monkeypatch.setattr(confinement, "memory_limit", lambda: found.server - (1 << 20))
    monkeypatch.setattr(type(adapter), "key_owner", None)
    with pytest.raises(MemoryError, match=r"the server needs about .* MB \(keys take .*; the budget allows"):
        InProcess(workload, adapter, spec, given)
    monkeypatch.setattr(confinement, "memory_limit", lambda: found.server + (1 << 20))
    monkeypatch.setattr(host, "memory_bytes", lambda: found.together - (1 << 20))
    with pytest.raises(MemoryError, match=r"client and server need about .* MB .*; the host has"):
        InProcess(workload, adapter, spec, given)


@pytest.mark.extended
@cells.each("name", _long_names)
def test_small_but_long(variant: str, scheme: str, name: str) -> None:
    _require_right(variant, *SMALL[name])


@pytest.mark.extended
@cells.each("name", _full_names)
def test_published_lengths(variant: str, scheme: str, name: str) -> None:
    _require_right(variant, *FULL[name])


# Steps to an operand that no library bootstraps, and the remedy.
UNFIT = {"three polynomials": (("square",), "relinearize"), "scale": (("square", "relinearize"), "rescale")}


def _unfit(cell: Cell) -> list[str]:
    able = "bootstrap" in cell.declared.operations[cell.scheme] and cell.declared.variant != "cleartext"
    return list(UNFIT) if able else []


@cells.each("operand", _unfit)
def test_an_operand_that_bootstrapping_does_not_take_is_refused(
    variant: str, scheme: str, operand: str
) -> None:
    """OpenFHE ended the process, or reported an exhausted ciphertext."""
    steps, remedy = UNFIT[operand]
    ring = _ring(1).precise if registry.declaration(variant).chooses_primes else _ring(1)
    keys = KeyRequest.of(relinearization=True, bootstrapping=True)
    subject = harness.subject_with(variant, ring.spec, keys)
    ciphertext = subject.encrypted(subject.vector(1))
    for step in steps:
        ciphertext = subject.evaluator.apply(step, ciphertext)
    with pytest.raises(ValueError, match=f"bootstrap.*: {remedy} it"):
        subject.evaluator.apply("bootstrap", ciphertext)
