"""A suite out of a few answers is one that can be read, and means what was answered."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_adapters import registry
from ciphermark_adapters.registry import Availability
from ciphermark_benchmark.suite import files, plan
from ciphermark_benchmark.suite.composition import (
    Offer,
    Wish,
    composed,
    over_limit,
    plain_modulus_bits,
    refusal,
    uploads_mb,
)
from ciphermark_benchmark.suite.form import Suite
from ciphermark_benchmark.suite.plan import PlannedCase
from ciphermark_core.errors import UserError
from ciphermark_core.model import Case
from ciphermark_core.security import TABLES, Table
from ciphermark_measure.parameter_selection import resolved

VARIANTS = ["seal", "openfhe"]


def cases(wish: Wish) -> list[Case]:
    suite = files.parse(composed(wish, VARIANTS), "mine.yaml")
    return [item.case for item in planned(suite)]


def planned(suite: Suite) -> list[PlannedCase]:
    available = {name: Availability(registry.declaration(name)) for name in suite.variants}
    return plan.cases(suite, available)


@given(
    st.integers(1, 10**9),
    st.integers(2, 10**6),
    st.integers(1, 20),
    st.booleans(),
    st.sampled_from([128, 192, 256]),
)
def test_what_was_answered_is_what_is_measured(
    values: int, largest: int, depth: int, is_exact: bool, security: int
) -> None:
    wish = Wish("mine", values, largest, depth, is_exact, security=security)
    if is_exact and (largest - 1) ** (depth + 1) >= 1 << 59:
        with pytest.raises(UserError, match="exceed the plaintext modulus"):
            composed(wish, VARIANTS)
        return
    found = cases(wish)
    if is_exact:
        assert {case.parameters.depth for case in found} == {depth}
    else:
        assert {len(case.parameters.modulus_bits or ()) for case in found} == {depth + 2}
    assert {case.parameters.security for case in found} == {security}
    assert all(case.parameters.ring_dimension_is_minimum for case in found)
    assert {case.vector_length for case in found if case.experiment in ("arithmetic", "rotation")} == {values}
    if is_exact:
        moduli = {case.parameters.plain_modulus for case in found}
        assert all(modulus > (largest - 1) ** (depth + 1) for modulus in moduli if modulus is not None)
        assert None not in moduli
    else:
        assert {case.parameters.scheme for case in found} == {"ckks"}


@pytest.mark.parametrize("table", ["2018", "2024"])
@pytest.mark.parametrize("is_exact", [True, False])
@pytest.mark.parametrize("depth", range(1, 8))
def test_the_promised_security_is_by_the_table_that_is_named(
    table: Table, is_exact: bool, depth: int
) -> None:
    wish = Wish("mine", 100, 3, depth, is_exact, security_table=table)
    assert f"128-bit security by the {TABLES[table]}" in composed(wish, VARIANTS)
    specs = {case.parameters for case in cases(wish) if case.parameters.scheme != "bgv"}
    levels = [resolved(registry.load("cleartext"), spec).security_by(table) for spec in specs]
    assert levels
    assert min(levels) >= 128


def test_the_newer_table_is_the_default() -> None:
    """Three multiplications with 42 bits of scale: 218 bits fit N = 8192 by the older one alone."""
    (spec, *_) = {case.parameters for case in cases(Wish("mine", 4096, 100, 3, False, precision_bits=22))}
    assert resolved(registry.load("cleartext"), spec).ring_dimension == 16384
    older = replace(spec, security_table="2018")
    assert resolved(registry.load("cleartext"), older).ring_dimension == 8192


@pytest.mark.parametrize(
    ("depth", "precision_bits", "sizes", "ring_dimension"),
    [
        (1, 10, (34, 30, 34), 4096),  # room for results up to 2^19 took 130 bits, and N = 8192
        (3, 20, (44, 40, 40, 40, 44), 8192),  # 240 bits, and N = 16384
    ],
)
def test_a_ckks_chain_has_no_room_for_results_that_cannot_be(
    depth: int, precision_bits: int, sizes: tuple[int, ...], ring_dimension: int
) -> None:
    (spec, *_) = {
        case.parameters for case in cases(Wish("mine", 10, 1, depth, False, precision_bits=precision_bits))
    }
    found = resolved(registry.load("cleartext"), spec)
    assert (found.modulus_bits, found.ring_dimension) == (sizes, ring_dimension)


def test_results_that_are_known_to_be_small_need_no_room_for_products() -> None:
    wish = Wish("mine", 10, 1 << 30, 5, True, largest_result=1 << 32)
    assert plain_modulus_bits(wish) == 34
    assert {case.parameters.scheme for case in cases(wish)} == {"bfv"}


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        (Wish("mine", 0, 10, 1, True), "vector_length must be from 1"),
        (Wish("mine", 1, 1, 1, True), "largest must be from 2"),
        (Wish("mine", 1, 10, 0, True), "depth must be from 1 to 64, not 0"),
        (Wish("mine", 1, 1000, 6, True), "--largest-result.*--approximate.*3 primes of 25 bits.*16777215"),
        (Wish("mine", 1, 10.5, 1, True), "bound of integers must be an integer, not 10.5"),
        (Wish("mine", 1, 0, 1, False), "largest must be above 0"),
        (Wish("mine", 1, 1, 1, False, upload_mb=float("nan")), "upload_mb must be above 0, not nan"),
        (Wish("mine", 1, 1, 1, False, upload_mb=0.0), "upload_mb must be above 0, not 0"),
        (Wish("mine", 1, 10, 1, False, precision_bits=41), "at most 36 bits of precision, not 41"),
    ],
)
def test_the_impossible_is_told_with_what_can_be_done(wish: Wish, words: str) -> None:
    with pytest.raises(UserError, match=words):
        composed(wish, VARIANTS)


def refused(wish: Wish) -> str:
    return refusal(wish, VARIANTS, lambda text: planned(files.parse(text, "mine.yaml")))


def test_where_nothing_can_be_executed_what_could_be_is_named() -> None:
    wish = Wish("mine", 100, 1, 40, False, security_table="2018")
    assert not any(
        item.reason is None for item in planned(files.parse(composed(wish, VARIANTS), "mine.yaml"))
    )
    assert "no variant supports 40 consecutive multiplications" in refused(wish)
    assert refused(wish).endswith("; possible: --depth 19")
    assert all(case for case in cases(replace(wish, depth=19)))
    assert refused(replace(wish, depth=25)).endswith("; possible: --depth 19 or --precision-bits 12")


@pytest.mark.parametrize("has_public_factors", [False, True])
@pytest.mark.parametrize("is_exact", [False, True])
def test_no_library_is_asked_for_what_it_lacks(is_exact: bool, has_public_factors: bool) -> None:
    variants = ["seal", "seal-hexl", "tenseal", "pyfhel", "openfhe"]
    wish = Wish("mine", 1000, 3, 2, is_exact, has_public_factors)
    items = planned(files.parse(composed(wish, variants), "mine.yaml"))
    assert {item.case.variant for item in items} == {*variants}
    assert {item.reason for item in items} == {None}
    operations = {item.case.operation for item in items}
    assert {
        "add",
        "rotate(1)",
        "none",
        "zstd",
        "mul_plain" if has_public_factors else "mul_full",
    } <= operations
    assert ("mul_full" in operations) != has_public_factors


def test_real_numbers_may_be_small() -> None:
    text = composed(Wish("mine", 100, 1, 2, False), VARIANTS)
    assert "100 real numbers of magnitude at most 1, 2 consecutive multiplications" in text
    assert "divided" not in text
    assert "of magnitude at most 0.25," in composed(Wish("mine", 100, 0.25, 2, False), VARIANTS)


def test_workers_have_the_memory_that_was_answered() -> None:
    suite = files.parse(composed(Wish("mine", 100, 1, 2, False, memory_mb=512), VARIANTS), "mine.yaml")
    assert suite.budget.memory_mb == 512


def test_no_case_sends_more_than_asked() -> None:
    """10,000 numbers at N = 8192: two ciphertexts of two polynomials, 64 bits for each coefficient and prime."""
    wish = Wish("mine", 10_000, 3, 2, True)
    items = planned(files.parse(composed(wish, VARIANTS), "mine.yaml"))
    uploads = uploads_mb(items)
    of_seal = [item.expected for item in items if (item.case.variant, item.case.operation) == ("seal", "add")]
    primes = {parameters.spec.scheme: len(parameters.moduli) for parameters in of_seal if parameters}
    for scheme in ("bfv", "bgv"):
        words_mb = 2 * 2 * 8192 * 8 * primes[scheme] / 1e6
        assert words_mb < uploads[Offer("seal", scheme)] < 1.001 * words_mb  # and headers
    assert over_limit(wish, items) == {}
    limit_mb = sum(uploads.values()) / len(uploads)
    within = replace(wish, upload_mb=limit_mb)
    excluded = over_limit(within, items)
    assert excluded == {offer: size for offer, size in uploads.items() if size > limit_mb}
    assert {variant for variant, _ in excluded} == {
        variant for variant, _ in uploads.keys() - excluded.keys()
    }
    rest = planned(files.parse(composed(within, VARIANTS, excluded), "mine.yaml"))
    assert uploads_mb(rest) == {offer: size for offer, size in uploads.items() if size <= limit_mb}
    with pytest.raises(UserError, match=r"10,000 .* below 3 take at least .* MB encrypted .*--upload-mb"):
        over_limit(replace(wish, upload_mb=0.01), items)
