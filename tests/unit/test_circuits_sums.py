"""Layout, sums, inner products and polynomials, on slots in the clear."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_adapters.cleartext.adapter import CleartextAdapter
from ciphermark_adapters.cleartext.declaration import DECLARATIONS
from ciphermark_circuits import products, sums
from ciphermark_circuits.layout import Blocks, centred, power_of_two, powers, residues
from ciphermark_contract.interfaces import (
    Evaluator,
    Exhausted,
    Handle,
    KeyOwner,
    KeyRequest,
    Unsupported,
    Vector,
)
from ciphermark_core import primes
from ciphermark_core.model import ParameterSpec, Scheme

RING = 64
WIDTH = RING // 2
SCHEMES: tuple[Scheme, ...] = ("bfv", "bgv", "ckks")
BLOCKS = (1, 2, 4, 8, 16)


@cache
def _parties(scheme: Scheme) -> tuple[KeyOwner, Evaluator]:
    modulus = None if scheme == "ckks" else primes.batching_modulus(40, RING)
    spec = ParameterSpec(
        scheme, RING, (60, 40, 40, 40, 60), modulus, 40 if scheme == "ckks" else None, security=0
    )
    adapter = CleartextAdapter(DECLARATIONS[0])
    owner = adapter.key_owner(adapter.resolve(spec), KeyRequest.of(True, powers(1, WIDTH)))
    return owner, adapter.evaluator(owner.public_material())


def _encrypted(scheme: Scheme, values: Vector) -> Handle:
    owner, _ = _parties(scheme)
    return owner.encrypt(values if scheme == "ckks" else residues(values, owner.parameters))


def _decrypted(scheme: Scheme, ciphertext: Handle) -> Vector:
    owner, _ = _parties(scheme)
    slots = owner.decrypt(ciphertext)
    return slots[:WIDTH] if scheme == "ckks" else centred(slots, owner.parameters)[:WIDTH]


def _vectors(count: int) -> st.SearchStrategy[list[list[int]]]:
    vector = st.lists(st.integers(-500, 500), min_size=WIDTH, max_size=WIDTH)
    return st.lists(vector, min_size=count, max_size=count)


schemes, block_sizes = st.sampled_from(SCHEMES), st.sampled_from(BLOCKS)


@given(schemes, block_sizes, _vectors(1))
def test_every_block_gets_the_sum_of_all(scheme: Scheme, block: int, vectors: list[list[int]]) -> None:
    values = np.array(vectors[0], dtype=np.float64)
    found = _decrypted(scheme, sums.sum_of_blocks(_parties(scheme)[1], _encrypted(scheme, values), block))
    expected = values.reshape(-1, block).sum(axis=0)
    np.testing.assert_allclose(found.reshape(-1, block), np.tile(expected, (WIDTH // block, 1)), atol=1e-9)


@given(schemes, block_sizes, _vectors(1))
def test_the_first_slot_of_a_block_gets_its_sum(scheme: Scheme, block: int, vectors: list[list[int]]) -> None:
    values = np.array(vectors[0], dtype=np.float64)
    found = _decrypted(scheme, sums.sum_in_blocks(_parties(scheme)[1], _encrypted(scheme, values), block))
    heads = Blocks(WIDTH, block).heads([found], WIDTH // block)
    np.testing.assert_allclose(heads, values.reshape(-1, block).sum(axis=1), atol=1e-9)


@given(schemes, block_sizes, _vectors(2))
def test_inner_products(scheme: Scheme, block: int, vectors: list[list[int]]) -> None:
    a, b = (np.array(vector, dtype=np.float64) for vector in vectors)
    result = sums.inner_products(_parties(scheme)[1], _encrypted(scheme, a), _encrypted(scheme, b), block)
    heads = Blocks(WIDTH, block).heads([_decrypted(scheme, result)], WIDTH // block)
    np.testing.assert_allclose(heads, (a * b).reshape(-1, block).sum(axis=1), rtol=1e-9, atol=1e-6)


@given(schemes, st.integers(1, 4), _vectors(4))
def test_totals(scheme: Scheme, count: int, vectors: list[list[int]]) -> None:
    values = np.array(vectors[:count], dtype=np.float64)
    result = sums.total(_parties(scheme)[1], [_encrypted(scheme, row) for row in values])
    np.testing.assert_allclose(_decrypted(scheme, result), values.sum(axis=0), atol=1e-9)


@given(
    schemes,
    st.lists(st.integers(-9, 9), min_size=1, max_size=4),
    st.sampled_from((-3, -1, 1, 2)),
    st.lists(st.integers(-5, 5), min_size=WIDTH, max_size=WIDTH),
)
def test_polynomials(scheme: Scheme, lower: list[int], last: int, values: list[int]) -> None:
    coefficients, x = [*lower, last], np.array(values, dtype=np.float64)
    result = products.polynomial(_parties(scheme)[1], _encrypted(scheme, x), coefficients)
    np.testing.assert_allclose(
        _decrypted(scheme, result), np.polynomial.polynomial.polyval(x, coefficients), rtol=1e-9, atol=1e-6
    )


def test_a_polynomial_is_as_deep_as_it_says() -> None:
    evaluator = _parties("ckks")[1]
    x = _encrypted("ckks", np.ones(WIDTH))
    for degree, depth in ((1, 1), (2, 2), (3, 3), (4, 3)):
        result = products.polynomial(evaluator, x, [1.0] * (degree + 1))
        assert evaluator.level(x) - evaluator.level(result) == depth
    with pytest.raises(Exhausted):
        products.polynomial(evaluator, x, [1.0] * 6)
    with pytest.raises(ValueError, match="last coefficient that is not 0"):
        products.polynomial(evaluator, x, [1.0, 2.0, 0.0])


def test_products_are_exhausted_at_the_last_level() -> None:
    evaluator = _parties("ckks")[1]
    x = _encrypted("ckks", np.ones(WIDTH))
    for _ in range(3):
        x = products.product(evaluator, x, x)
    with pytest.raises(Exhausted, match="level 0"):
        products.product(evaluator, x, x)


@given(st.integers(1, 70), st.integers(1, 13), block_sizes)
def test_packed_rows_are_found_again(count: int, columns: int, parts: int) -> None:
    block = power_of_two(columns)
    rows = np.arange(1.0, count * columns + 1).reshape(count, columns)
    blocks = Blocks(WIDTH, block)
    vectors = blocks.packed(rows)
    assert len(vectors) == -(-count // (WIDTH // block))
    assert all(len(vector) == WIDTH for vector in vectors)
    np.testing.assert_array_equal(blocks.heads(vectors, count), rows[:, 0])
    assert sum(vector.sum() for vector in vectors) == rows.sum()


def test_powers_of_two() -> None:
    assert [power_of_two(n) for n in (1, 2, 3, 13, 16, 17)] == [1, 2, 4, 16, 16, 32]
    assert powers(1, 16) == (1, 2, 4, 8)
    assert powers(4, 32) == (4, 8, 16)
    assert powers(8, 8) == ()


def test_what_does_not_fit_is_refused() -> None:
    parameters = _parties("bfv")[0].parameters
    with pytest.raises(Unsupported, match="17 columns need blocks of 32 slots"):
        Blocks.of(parameters, 17)
    half = (parameters.plain_modulus or 0) // 2
    assert centred(residues(np.array([-half, half]), parameters), parameters).tolist() == [-half, half]
    with pytest.raises(Unsupported, match="must be below half of t"):
        residues(np.array([float(half + 1)]), parameters)
