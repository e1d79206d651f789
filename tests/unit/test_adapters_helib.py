"""HElib without HElib: the algebra of its slots, and what is said where its module is missing."""

from __future__ import annotations

import numpy as np
import pytest

from ciphermark_adapters import registry
from ciphermark_adapters.helib import parameters
from ciphermark_adapters.helib.parameters import Slots
from ciphermark_contract.operations import OPERATIONS, Ring
from ciphermark_core.model import Parameters, ParameterSpec

N, T = 16, 97  # 97 is 1 modulo 32
ZETA = next(z for z in range(2, T) if pow(z, N, T) == T - 1)


def _slots() -> Slots:
    spec = ParameterSpec("bgv", N, (20, 20), T)
    exponents = np.random.default_rng(1).permutation(np.arange(1, 2 * N, 2)).tolist()
    return Slots(Parameters(spec, N, (), (), N, T), exponents)


def _values(exponents: list[int], coefficients: list[int]) -> np.ndarray:
    """The polynomial at ζ^e for every e: its slots in the library's order."""
    return np.array([sum(a * pow(ZETA, e * i, T) for i, a in enumerate(coefficients)) % T for e in exponents])


def _turned(coefficients: list[int], k: int) -> list[int]:
    """The polynomial under X → X^k, modulo X^N + 1."""
    result = [0] * N
    for i, a in enumerate(coefficients):
        place = i * k % (2 * N)
        result[place % N] += a if place < N else -a
    return result


@pytest.mark.parametrize("steps", [0, 1, -1, 3, N // 2 - 1])
def test_an_automorphism_turns_the_rows(steps: int) -> None:
    order = _slots()
    coefficients = np.random.default_rng(2).integers(0, T, N).tolist()
    before = order.contract_order(_values(order.exponents, coefficients))
    turned = _turned(coefficients, parameters.rotation(N, steps))
    after = order.contract_order(_values(order.exponents, turned))
    assert after.tolist() == OPERATIONS["rotate"].slots_after(Ring(N, T), before, steps).tolist()
    assert steps == 0 or after.tolist() != before.tolist()


def test_an_automorphism_swaps_the_rows() -> None:
    order = _slots()
    coefficients = np.random.default_rng(3).integers(0, T, N).tolist()
    before = order.contract_order(_values(order.exponents, coefficients))
    after = order.contract_order(_values(order.exponents, _turned(coefficients, parameters.exponent(N, -1))))
    assert after.tolist() == OPERATIONS["rotate_columns"].slots_after(Ring(N, T), before).tolist()


def test_values_go_there_and_back() -> None:
    order = _slots()
    ordered = order.ordered(np.array([5, 6, 7]))
    assert order.contract_order(ordered).tolist() == [5, 6, 7] + [0] * (N - 3)
    with pytest.raises(ValueError, match="do not fit 16 slots"):
        order.ordered(np.zeros(N + 1, dtype=np.int64))
    with pytest.raises(ValueError, match="must lie in"):
        order.ordered(np.array([T]))


def test_a_ckks_slot_may_be_kept_at_either_conjugate() -> None:
    spec = ParameterSpec("ckks", N, (40, 40), None, 30)
    row = [pow(3, c, 2 * N) for c in range(N // 2)]
    mixed = [e if i % 2 else 2 * N - e for i, e in enumerate(row)]
    order = Slots(Parameters(spec, N, (), (), N // 2, None, 2.0**30), mixed[::-1])
    assert order.contract_order(np.arange(N // 2)).tolist() == list(range(N // 2))[::-1]


def test_a_missing_module_is_told_with_the_way_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry.interpreters, "has_module", lambda environment, name: False)
    found = registry.availability("helib", frozenset())
    assert found.reason == "module _ciphermark_helib is not installed"
    assert found.remedy is not None
    assert "HELIB_ROOT" in found.remedy
    assert "setup/install.py --only native-helib" in found.remedy
