"""Predicted precision and noise budgets against those of every library that the model covers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from ciphermark_contract.tracing import Traced
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import ParameterSpec, Scheme
from ciphermark_model.precision import Precision, has_room, precision

from . import cells, harness
from .cells import Cell
from .checks import random_programs
from .checks.random_programs import Circuit
from .harness import Subject

RING = 1024
# Small, insecure rings. Their chains are too short for some programs of three products.
SPECS: Mapping[Scheme, ParameterSpec] = {
    "bfv": ParameterSpec("bfv", RING, (50, 50, 50), 65537, security=0),
    "bgv": ParameterSpec("bgv", RING, (50, 50, 50, 50), 65537, security=0),
    "ckks": ParameterSpec("ckks", RING, (50, 35, 35, 50), None, 35, security=0),
}
OPERATIONS = ("add", "sub", "negate", "add_plain", "sub_plain", "mul_plain", "mul", "square", "rotate")
TOLERANCE = 1e-3
# A prediction's deviation is below half a bit. Of the largest of hundreds of errors, 4 bits are beyond any chance: a
# larger one has a probability below exp(−1.5·(16·3)^(2/3)) = 10⁻⁹ in a slot, and 512 slots that are all smaller than a
# sixteenth of it one of 0.2^512.
BITS = 4


def _is_covered(cell: Cell) -> bool:
    noise = cell.declared.noise
    return noise is not None and cell.scheme in noise.schemes and cells.is_driven_by_levels(cell)


pytestmark = cells.where(_is_covered)


@pytest.fixture(scope="module")
def small(variant: str, scheme: Scheme) -> Subject:
    return harness.subject(variant, SPECS[scheme])


def _plains(subject: Subject) -> list[np.ndarray]:
    """Random plaintexts, small ones, and vectors of equal values."""
    slots, is_real = subject.parameters.slots, subject.scheme == "ckks"
    kind = np.float64 if is_real else np.int64
    return [
        subject.vector(7),
        subject.vector(8) / 16 if is_real else subject.vector(8) % 4,
        np.full(slots, 3, dtype=kind),
        np.concatenate([np.ones(slots // 2, dtype=kind), np.zeros(slots - slots // 2, dtype=kind)]),
    ]


def _predicted(subject: Subject, program: Traced, vectors: Sequence[np.ndarray]) -> Precision:
    noise = subject.declared.noise
    assert noise is not None
    return precision(program.program, program.constants, vectors, noise)


def _is_right(subject: Subject, program: Traced, vectors: Sequence[np.ndarray]) -> bool:
    expected = random_programs.meaning(program.program, program.constants, vectors)
    try:
        outputs = random_programs.executed(subject, program, vectors)
    except Unsupported:  # SEAL refuses x − x, which encrypts nothing
        return True
    tolerance = TOLERANCE if subject.scheme == "ckks" else 0
    pairs = zip(outputs, expected, strict=True)
    return all(bool(np.all(np.abs(subject.owner.decrypt(item) - want) <= tolerance)) for item, want in pairs)


# Programs of one source of noise each, and of several.
CIRCUITS: Mapping[str, Sequence[random_programs.Step]] = {
    "fresh": [("negate", 0, 0, 0)],
    "a sum of one with itself": [("add", 0, 0, 0), ("add", 0, 0, 0)],
    "a product with a plaintext": [("mul_plain", 0, 0, 0)],
    "a product": [("mul", 0, 1, 0)],
    "a fourth power": [("square", 0, 0, 0), ("square", 0, 0, 0)],
    "a rotation": [("rotate", 0, 0, 0)],
    "a product and a factor": [("mul", 0, 1, 0), ("add", 0, 1, 0)],
    "a product and a plaintext": [("mul", 0, 1, 0), ("add_plain", 0, 0, 0)],
    "a rotated product and a sum": [("mul", 0, 1, 0), ("rotate", 0, 0, 2), ("add", 0, 1, 0)],
}


@cells.each("name", lambda _: list(CIRCUITS))
def test_predictions_are_near_measurements(small: Subject, name: str) -> None:
    vectors = [small.vector(seed) for seed in range(random_programs.INPUTS)]
    program = random_programs.traced(small, Circuit(CIRCUITS[name], _plains(small)))
    predicted = _predicted(small, program, vectors)
    outputs = random_programs.executed(small, program, vectors)
    if small.scheme == "ckks":
        expected = random_programs.meaning(program.program, program.constants, vectors)
        pairs = zip(outputs, expected, strict=True)
        error = max(float(np.abs(small.owner.decrypt(item) - want).max()) for item, want in pairs)
        assert predicted.error is not None
        assert abs(np.log2(error / predicted.error.value)) < BITS
        return
    assert predicted.budget_bits is not None
    budgets = [small.owner.noise_budget_bits(item) for item in outputs]
    if None not in budgets:
        assert abs(min(budgets) - max(0, predicted.budget_bits.value)) < BITS


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_safe_program_decrypts_correctly(small: Subject, data: st.DataObject) -> None:
    _require_truth(small, data)


@pytest.mark.extended
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_safe_program_decrypts_incorrectly(small: Subject, data: st.DataObject) -> None:
    _require_truth(small, data)


def _require_truth(subject: Subject, data: st.DataObject) -> None:
    operations = [name for name in OPERATIONS if name in subject.managed.operations]
    steps = data.draw(random_programs.steps(operations))
    program = random_programs.traced(subject, Circuit(steps, _plains(subject)))
    vectors = [subject.vector(data.draw(st.integers(0, 1000))) for _ in range(random_programs.INPUTS)]
    is_safe = has_room(_predicted(subject, program, vectors), TOLERANCE)
    event(f"promised: {is_safe}")
    if is_safe:
        assert _is_right(subject, program, vectors)
