"""Modulus chains for a depth: enough for the noise, and no more than a prime too much."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_adapters import registry
from ciphermark_core import primes
from ciphermark_core.chains import chain_for_depth, chains_for_depth, ckks_chain
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import ParameterSpec
from ciphermark_measure.parameter_selection import resolved

RINGS = (4096, 8192, 16384, 32768)


def ask(scheme: str, ring_dimension: int, depth: int, size: int) -> ParameterSpec:
    """``size`` is the scale in bits for ckks, the plaintext modulus for bfv and bgv."""
    if scheme == "ckks":
        return ParameterSpec("ckks", ring_dimension, scale_bits=size, depth=depth)
    return ParameterSpec(scheme, ring_dimension, plain_modulus=size, depth=depth)


@pytest.mark.parametrize(
    ("scheme", "ring_dimension", "depth", "size", "chain"),
    [
        ("ckks", 8192, 1, 40, (60, 40, 60)),
        ("ckks", 16384, 4, 35, (55, 35, 35, 35, 35, 55)),
        ("ckks", 32768, 2, 50, (60, 50, 50, 60)),
        ("bgv", 4096, 1, 65537, (32, 31, 32)),
        ("bgv", 4096, 1, 786433, (35, 35, 35)),
        ("bgv", 8192, 2, 65537, (34, 33, 33, 34)),
        ("bgv", 8192, 3, 65537, (35, 34, 34, 34, 35)),
        ("bgv", 32768, 20, 65537, (42, *(39,) * 20, 42)),
        ("bgv", 32768, 20, 786433, (43,) * 22),
        ("bfv", 8192, 2, 65537, (43, 43, 43)),
        ("bfv", 16384, 7, 786433, (54,) * 6),
        ("bfv", 32768, 20, 65537, (51,) * 14),
    ],
)
def test_known_chains(
    scheme: str, ring_dimension: int, depth: int, size: int, chain: tuple[int, ...]
) -> None:
    """The budgets that SEAL reports at the end of these chains are 4 to 17 bits: see docs/decisions/0011."""
    assert chain_for_depth(ask(scheme, ring_dimension, depth, size)) == chain


def test_a_small_ring_is_enough_for_one_product() -> None:
    """96 bits in all, where a chain of 117 took N = 8192."""
    spec = replace(ask("bfv", 1024, 1, 786433), ring_dimension_is_minimum=True, security_table="2024")
    found = resolved(registry.load("cleartext"), spec)
    assert (found.ring_dimension, found.modulus_bits) == (4096, (32, 32, 32))


def test_a_small_ring_is_enough_for_one_product_in_bgv() -> None:
    """105 bits in all, where bounds for the worst case of every embedding took 113 and N = 8192."""
    spec = replace(ask("bgv", 1024, 1, 786433), ring_dimension_is_minimum=True, security_table="2024")
    found = resolved(registry.load("cleartext"), spec)
    assert (found.ring_dimension, found.modulus_bits) == (4096, (35, 35, 35))


def test_more_primes_are_taken_where_the_chain_is_secure_only_then() -> None:
    """The special prime is as large as the others: 4 of 54 bits are above 214, 5 of 41 are not."""
    spec = ask("bfv", 8192, 4, 786433)
    assert chain_for_depth(spec) == (54,) * 4
    assert chain_for_depth(replace(spec, security_table="2024")) == (41,) * 5


exact = st.builds(
    ask,
    st.sampled_from(["bfv", "bgv"]),
    st.sampled_from(RINGS),
    st.integers(1, 25),
    st.sampled_from([65537, 786433]),
)
real = st.builds(ask, st.just("ckks"), st.sampled_from(RINGS), st.integers(1, 25), st.integers(25, 50))


@given(exact | real)
def test_every_chain_has_its_primes_and_a_special_one_as_large_as_any(spec: ParameterSpec) -> None:
    chain = chain_for_depth(spec)
    assert chain[-1] == max(chain) <= primes.LARGEST_PRIME_BITS
    for bits in set(chain):
        found = primes.ntt_primes(bits, spec.ring_dimension, chain.count(bits))
        assert len(found) == chain.count(bits)
        assert spec.scheme != "bgv" or min(found) > 2 ** (bits - 0.5)


@given(real)
def test_ckks_has_a_prime_for_every_rescaling_and_headroom(spec: ParameterSpec) -> None:
    first, *inner, special = chain_for_depth(spec)
    assert inner == [spec.scale_bits] * spec.depth
    assert first == special == min(60, spec.scale_bits + 20)


@pytest.mark.parametrize(
    ("largest_result", "outer"),
    [(None, 50), (0.5, 34), (1, 34), (2, 34), (2.5, 35), (8, 36), (1000, 43), (1e9, 60)],
)
def test_ckks_has_room_for_four_times_the_largest_result(largest_result: float | None, outer: int) -> None:
    assert ckks_chain(30, 3, largest_result) == (outer, 30, 30, 30, outer)
    assert largest_result is None or outer == 60 or 2 ** (outer - 31) >= 4 * largest_result


@given(exact, st.data())
def test_more_is_never_less(spec: ParameterSpec, data: st.DataObject) -> None:
    """Another multiplication, a larger ring or a larger t never take fewer bits of data primes."""

    def data_bits(request: ParameterSpec) -> int:
        return sum(chain_for_depth(request)[:-1])

    total = data_bits(spec)
    deeper = ask(spec.scheme, spec.ring_dimension, spec.depth + 1, spec.plain_modulus)
    assert data_bits(deeper) > total
    if spec.ring_dimension < RINGS[-1]:
        larger = ask(spec.scheme, 2 * spec.ring_dimension, spec.depth, spec.plain_modulus)
        assert data_bits(larger) >= total


@given(exact)
def test_larger_primes_follow_the_least(spec: ParameterSpec) -> None:
    chains = list(islice(chains_for_depth(spec), 4))
    assert all(sum(small) < sum(large) for small, large in pairwise(chains))
    assert len({len(chain) for chain in chains}) == 1


@given(real)
def test_ckks_has_one_chain_since_the_scale_decides(spec: ParameterSpec) -> None:
    assert len(list(chains_for_depth(spec))) == 1


@pytest.mark.parametrize(
    "spec",
    [ask("ckks", 32768, 300, 20), ask("bgv", 32768, 2, (1 << 50) + 1)],
    ids=["too few primes", "t too large"],
)
def test_what_cannot_be_is_told(spec: ParameterSpec) -> None:
    with pytest.raises(Unsupported, match=r"no modulus chain for \d+ multiplications .* ask for a smaller"):
        chain_for_depth(spec)
