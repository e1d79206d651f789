"""What only Lattigo needs: bytes that Go would end the process for, long products, and centered plaintexts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ciphermark_contract.interfaces import KeyRequest, Unsupported
from ciphermark_contract.operations import fresh
from ciphermark_contract.tracing import trace
from ciphermark_core.model import BootstrappingParameters, ParameterSpec, Scheme

from . import examples, harness
from .checks.values import right
from .harness import Subject

pytestmark = pytest.mark.variants("lattigo")


def test_lengths_that_are_no_ciphertext_are_refused(subject: Subject) -> None:
    """Lattigo allocates what a length asks for: with 2^60 words the process would end."""
    data = subject.evaluator.dump(subject.encrypted(subject.vector(0)), "none")
    row = subject.parameters.ring_dimension.to_bytes(8, "little")
    huge = data.replace(row, (1 << 60).to_bytes(8, "little"), 1)
    assert huge != data
    for damaged in (huge, data[:-8], data + bytes(8), b""):
        with pytest.raises((ValueError, RuntimeError)):
            subject.evaluator.load(damaged)


def test_keys_of_another_kind_are_refused(subject: Subject) -> None:
    header, relinearization, rotation, *others = subject.owner.public_material()
    for parts in (
        [header, rotation, relinearization, *others],
        [header, relinearization[:-1000], rotation, *others],
    ):
        with pytest.raises((ValueError, RuntimeError)):
            subject.adapter.evaluator(parts)


@pytest.mark.schemes("bgv", "ckks")
def test_a_product_of_three_polynomials_is_multiplied(deep: Subject) -> None:
    a, b, c = (deep.vector(number) for number in range(3))
    apply = deep.evaluator.apply
    x, y, z = (deep.encrypted(values) for values in (a, b, c))
    raw = apply("mul", x, y)
    if deep.scheme == "ckks":
        raw, z = apply("rescale", raw), apply("mod_switch", z)
    product = apply("mul", raw, z)
    assert deep.evaluator.polynomials(product) == 4
    if deep.scheme == "ckks":
        right(deep, product, a * b * c, operations=4)
    else:
        assert deep.owner.noise_budget_bits(deep.returned(product)) is not None


@pytest.mark.schemes("bfv", "bgv")
def test_the_noise_of_a_sum_grows_with_the_root_of_its_terms(variant: str, scheme: Scheme) -> None:
    """The 64 products of one ciphertext: 3 bits, and 6 were plaintexts not centered. Maxima over 4096 coefficients,
    which vary by less than a bit, are compared.
    """
    subject = harness.subject(variant, harness.SPECS[scheme])
    apply, x = subject.evaluator.apply, subject.encrypted(subject.vector(0))
    products = [
        apply("mul_plain", x, subject.evaluator.encode(subject.vector(number), like=x))
        for number in range(64)
    ]
    one, total = (
        subject.owner.noise_budget_bits(subject.returned(item))
        for item in (products[0], apply("add_many", *products))
    )
    assert one is not None
    assert total is not None
    assert one - total <= 4
    expected = sum(subject.vector(number).astype(object) for number in range(64)) * subject.vector(0)
    right(
        subject,
        apply("add_many", *products),
        (expected % subject.parameters.plain_modulus).astype(np.int64),
    )


def test_a_rotation_of_all_elements_is_that_of_numpy(subject: Subject) -> None:
    values = subject.vector(0)
    result = subject.evaluator.apply("rotate", subject.encrypted(values), -4)
    right(subject, result, examples.meaning(subject, "rotate", values, -4), operations=4)


# Insecure, with 8 slots: a fraction of a second.
BOOTSTRAPPED = ParameterSpec(
    "ckks",
    1024,
    (60, *[40] * 3, *[40] * 2, *[60] * 8, *[56] * 2, 60),
    scale_bits=40,
    security=0,
    secret_distribution="sparse ternary",
    bootstrapping=BootstrappingParameters((2, 2), slots=8),
)


@pytest.fixture(scope="module")
def sparse() -> Subject:
    keys = KeyRequest.of(relinearization=True, rotations=(1,), bootstrapping=True)
    return harness.subject_with("lattigo", BOOTSTRAPPED, keys)


def test_primes_inside_and_outside_bootstrapping_are_those_that_were_requested(sparse: Subject) -> None:
    bootstrapping = sparse.parameters.require_bootstrapping()
    assert _near(sparse.parameters.moduli + sparse.parameters.special_moduli) == (60, 40, 40, 40, 60, 60)
    assert bootstrapping.moduli[:4] == sparse.parameters.moduli
    # Special primes: as many as the root of the others
    assert _near(bootstrapping.moduli + bootstrapping.special_moduli) == (
        *(60, 40, 40, 40, 40, 40, *[60] * 8, 56, 56),
        *[61] * 4,
    )
    assert sparse.parameters.log_qp == pytest.approx(sum((60, *[40] * 5, *[60] * 8, 112, 4 * 61)), abs=0.1)
    assert sparse.parameters.slots == 8


def _near(moduli: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(round(np.log2(float(modulus))) for modulus in moduli)


@pytest.mark.parametrize("level", [0, 2])
def test_a_bootstrapped_ciphertext_is_fresh_again(sparse: Subject, level: int) -> None:
    """Ciphertexts of 8 slots also add, multiply, rotate and cross as bytes."""
    values, apply = sparse.vector(1), sparse.evaluator.apply
    low = sparse.encrypted(values)
    while sparse.evaluator.level(low) > level:
        low = apply("mod_switch", low)
    before = sparse.evaluator.dump(low, "none")
    high = apply("bootstrap", low)
    assert sparse.evaluator.dump(low, "none") == before, "Lattigo changes its operand"
    assert (sparse.evaluator.level(high), sparse.evaluator.scale(high)) == (3, 2.0**40)
    error = sparse.parameters.require_bootstrapping().error
    assert np.abs(sparse.decrypted(high) - values).max() < error < 2e-4
    product = apply("mul_full", apply("rotate", high, 1), high)
    assert np.abs(sparse.decrypted(product) - np.roll(values, -1) * values).max() < 3 * error


@pytest.mark.parametrize("slots", [8, 512])
def test_threads_do_not_change_a_bootstrapped_ciphertext(sparse: Subject, slots: int) -> None:
    """One thread is Lattigo's own Evaluate. Half of N slots take two modular reductions."""
    spec = replace(BOOTSTRAPPED, bootstrapping=BootstrappingParameters((2, 2), slots=slots))
    keys = KeyRequest.of(True, bootstrapping=True)
    subject = sparse if slots == 8 else harness.subject_with("lattigo", spec, keys)
    evaluator, values = subject.evaluator, subject.vector(1)
    low = subject.encrypted(values)
    while evaluator.level(low) > 0:
        low = evaluator.apply("mod_switch", low)
    shape = replace(fresh(subject.parameters), level=0)
    traced = trace(lambda e, inputs: [e.apply("bootstrap", *inputs)], subject.parameters, [shape])
    prepared = evaluator.prepare_constants(traced.program, traced.constants)
    results = []
    for threads in (1, 2, 3):
        bound = evaluator.bind_program(traced.program, [low], prepared, threads)
        bound.run(1)
        results += bound.results()
    assert len({evaluator.dump(result, "none") for result in results}) == 1
    assert (
        np.abs(subject.decrypted(results[-1]) - values).max()
        < subject.parameters.require_bootstrapping().error
    )


def test_the_scale_of_an_operand_is_kept(sparse: Subject) -> None:
    """That of a rescaled product is not quite the default one, for which Lattigo takes it."""
    values, apply = sparse.vector(2), sparse.evaluator.apply
    x = sparse.encrypted(values)
    product = apply("mul_full", x, x)
    high = apply("bootstrap", product)
    assert sparse.evaluator.scale(high) == sparse.evaluator.scale(product) != 2.0**40
    assert np.abs(sparse.decrypted(high) - values * values).max() < 2e-4
    with pytest.raises(ValueError, match=r"at the default scale of 2\^40\.0, and the operand's is 2\^80\.0"):
        apply("bootstrap", apply("mul_plain", x, sparse.evaluator.encode(values, like=x)))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"secret_distribution": "uniform ternary"}, "a sparse ternary or a sparse-encapsulated secret"),
        (
            {"bootstrapping": BootstrappingParameters((2, 2), slots=6)},
            "a power of two of slots, from 2 to 512",
        ),
        ({"bootstrapping": BootstrappingParameters((2, 2), None, 2, 10)}, "one iteration"),
        ({"modulus_bits": (60, *[40] * 4, *[60] * 7, 50, *[56] * 2, 60)}, "primes of one size, not 60, 60"),
        (
            {"modulus_bits": (60, *[60] * 8, *[56] * 2, 60)},
            "consumes 12 levels, .* at least 15 sizes",
        ),
        (
            {"modulus_bits": (50, *[30] * 5, *[30] * 8, *[30] * 2, 60)},
            r"errors up to 2\^.*: request larger primes",
        ),
    ],
)
def test_a_circuit_that_lattigo_does_not_have_is_refused(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(Unsupported, match=reason):
        harness.adapter("lattigo").resolve(replace(BOOTSTRAPPED, **changes))


def test_an_encapsulated_secret_is_uniform_outside(sparse: Subject) -> None:
    spec = replace(BOOTSTRAPPED, secret_distribution="sparse-encapsulated")
    subject = harness.subject_with("lattigo", spec, KeyRequest.of(True, bootstrapping=True))
    assert (sparse.parameters.hamming_weight, subject.parameters.hamming_weight) == (192, 32)
    values = subject.vector(3)
    result = subject.evaluator.apply("bootstrap", subject.encrypted(values))
    assert np.abs(subject.decrypted(result) - values).max() < 2e-4


def test_collections_are_counted_for_the_process(subject: Subject) -> None:
    """Each load is garbage of a quarter of a megabyte, and the collector starts at some megabytes of it."""
    data = subject.evaluator.dump(subject.encrypted(subject.vector(0)), "none")
    before = subject.adapter.collections()
    for _ in range(2000):
        subject.evaluator.load(data)
    during = subject.adapter.collections().since(before)
    assert during.cycles > 0
    assert during.paused_ns > 0


@pytest.mark.parametrize(("limit", "left"), [(1 << 30, 1 << 28), (20 << 30, 1 << 30)])
def test_the_collector_knows_the_limit_of_the_process(
    limit: int, left: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Above it, Go ends a worker. Far below it, keys in use exceed what the collector keeps to, and it never rests."""
    from ciphermark_adapters.lattigo import binding

    monkeypatch.setattr(binding.resource, "getrlimit", lambda _: (limit, limit))
    monkeypatch.setattr(binding.os, "sysconf", lambda _: 1 << 20)  # pages, and bytes of each
    assert binding.memory_limit() == limit - left
