"""What is particular to HElib: its prime chain, its keys, its refusal to decrypt."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ciphermark_adapters.helib import limits
from ciphermark_adapters.helib import parameters as helib_parameters
from ciphermark_contract.interfaces import KeyRequest, Unsupported
from ciphermark_contract.keys import NO_KEYS
from ciphermark_core import security
from ciphermark_core.model import Parameters, ParameterSpec

from . import examples, harness
from .checks.values import right
from .harness import DEEP_SPECS, SPECS

pytestmark = pytest.mark.variants("helib")

SMALL = 1024  # a bgv context takes time with N²


def _resolved(
    variant: str, bits: tuple[int, ...] | None, ring_dimension: int = SMALL, modulus: int = 12289
) -> Parameters:
    spec = ParameterSpec("bgv", ring_dimension, bits, modulus, security=0)
    return harness.adapter(variant).resolve(spec)


@pytest.mark.parametrize(
    ("bits", "expected"),
    [
        ((36, 36, 37), [54, 54]),
        ((50, 58, 60), [54, 54]),
        ((58, 58, 60), [58, 58]),
        ((60, 60, 60, 60), [60, 60, 60]),
        ((57,), [57]),
    ],
)
def test_bgv_primes_have_the_requested_mean_size_or_the_nearest(
    variant: str, bits: tuple[int, ...], expected: list[int]
) -> None:
    assert [prime.bit_length() for prime in _resolved(variant, bits).moduli] == expected


@pytest.mark.parametrize("bits", [(54, 54, 60), (60, 60, 60, 60), (57,)])
@pytest.mark.parametrize("modulus", [12289, 1032193, 576460752303421441])
def test_the_primes_are_those_foretold(variant: str, bits: tuple[int, ...], modulus: int) -> None:
    """Resolving makes none of HElib's slow tables; the context that keys are made in has the same primes."""
    found = _resolved(variant, bits, modulus=modulus)
    made = helib_parameters.context_of(found)  # compares
    assert tuple(made.ciphertext_primes) == found.moduli
    assert len(made.special_primes) == 1


def test_bgv_rings_end_where_tables_take_gigabytes(variant: str) -> None:
    beyond = 2 * limits.LARGEST_BGV_RING
    with pytest.raises(Unsupported, match="grow with N²"):
        _resolved(variant, (54, 54, 60), beyond, 65537)
    spec = ParameterSpec("ckks", beyond, (50, 40, 50), None, 40)
    assert harness.adapter(variant).resolve(spec).spec.ring_dimension == beyond


def test_a_plaintext_is_made_for_a_level(variant: str) -> None:
    """Without a ciphertext. It has residues for ciphertexts of that level and of lower ones."""
    subject = harness.subject(variant, DEEP_SPECS["ckks"])
    evaluator, a, b = subject.evaluator, subject.vector(0), subject.vector(1)
    fresh = subject.encrypted(a)
    top = evaluator.level(fresh)
    lower = evaluator.apply("rescale", evaluator.apply("mul_plain", fresh, evaluator.encode(b, level=top)))
    expected = examples.meaning(subject, "mul_plain", a, b)
    right(subject, lower, expected, operations=4)
    for level in (top - 1, top):
        product = evaluator.apply("mul_plain", lower, evaluator.encode(b, level=level))
        right(subject, product, examples.meaning(subject, "mul_plain", expected, b), operations=4)
    with pytest.raises(RuntimeError, match="getIndexSet"):
        evaluator.apply("mul_plain", fresh, evaluator.encode(b, level=top - 1))
    for level in (-1, top + 1):
        with pytest.raises(ValueError, match=f"no level {level}"):
            evaluator.encode(b, level=level)


def test_the_default_chain_is_as_large_as_security_allows(variant: str) -> None:
    found = _resolved(variant, None, 4096, 65537)
    bound = security.limit("2018", 4096, 128)
    assert bound is not None
    assert bound - helib_parameters.MIN_BITS < found.log_qp <= bound


@pytest.mark.parametrize("plain_modulus", [1073707009, 576460752303421441])
def test_large_plaintext_moduli(variant: str, plain_modulus: int) -> None:
    """30 and 59 bits: products are right."""
    spec = ParameterSpec("bgv", SMALL, (60,) * 6, plain_modulus, security=0)
    subject = harness.subject_with(variant, spec, KeyRequest.of(relinearization=True))
    values = np.array([1, 2, plain_modulus - 1, plain_modulus // 2], dtype=np.int64)
    square = subject.managed.apply("square", subject.encrypted(values))
    expected = [int(value) ** 2 % plain_modulus for value in values]
    decrypted = subject.decrypted(square)
    assert decrypted[: len(values)].tolist() == expected


def test_only_the_requested_keys_are_made(variant: str) -> None:
    """One matrix per key: HElib by itself would add one for s³."""
    adapter = harness.adapter(variant)
    parameters = adapter.resolve(SPECS["ckks"])
    sizes = {}
    for request in (NO_KEYS, KeyRequest.of(True), KeyRequest.of(True, (1,)), KeyRequest.of(True, (1, -1, 4))):
        owner = adapter.key_owner(parameters, request)
        sizes[len(request.steps) + bool(request.relinearization)] = len(owner.dump_key("public_key", "none"))
        matrix = (
            len(owner.dump_seeded("relinearization_keys_seeded", np.zeros(1), "none"))
            if request.relinearization
            else 0
        )
    steps = [sizes[1] - sizes[0], sizes[2] - sizes[1], (sizes[4] - sizes[2]) // 2]
    assert all(abs(step - matrix) < matrix // 50 + 8 * 2 * parameters.ring_dimension * 2 for step in steps), (
        steps
    )


def test_what_helib_refuses_to_decrypt_is_no_value(variant: str) -> None:
    subject = harness.subject_with(variant, SPECS["ckks"], KeyRequest.of(relinearization=True))
    evaluator, ciphertext = subject.evaluator, subject.encrypted(subject.vector(0))
    for _ in range(2):
        ciphertext = evaluator.apply("relinearize", evaluator.apply("square", ciphertext))
    assert np.isinf(subject.decrypted(ciphertext)).all()


def test_no_log_file_is_left(variant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a process of its own: HElib opens its log when it is loaded."""
    monkeypatch.chdir(tmp_path)
    code = "from ciphermark_adapters.helib import binding; binding.module()"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("count", [1, 3])
def test_the_thread_pool_is_of_the_size_that_the_process_may_use(variant: str, count: int) -> None:
    """In a process of its own: HElib's operations use the pool that the module starts when it is loaded."""
    code = (
        "import os; from ciphermark_adapters.helib import binding; before = os.listdir('/proc/self/task'); "
        "binding.module(); print(len(os.listdir('/proc/self/task')) - len(before))"
    )
    env = {**os.environ, "OMP_NUM_THREADS": str(count)}
    done = subprocess.run([sys.executable, "-c", code], check=True, timeout=300, env=env, capture_output=True)
    assert int(done.stdout) == count - 1
