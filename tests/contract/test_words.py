"""Words of ciphertexts: the server tells them without a key, and the client makes the ciphertext of them again."""

from __future__ import annotations

import numpy as np
import pytest

from ciphermark_contract.interfaces import Unsupported
from ciphermark_contract.keys import NO_KEYS
from ciphermark_contract.operands import restored, transformed
from ciphermark_contract.operations import coefficients, words
from ciphermark_contract.operations.meaning import Ring
from ciphermark_core.model import ParameterSpec, Scheme

from . import harness
from .cells import has, where
from .harness import Subject

pytestmark = pytest.mark.schemes("bfv")
WITH_WORDS = where(has("mul_word"))
# 8-bit words: 5, 7 and 7 of the primes, and a word that is all of a prime's digits but the last ones.
MODULUS = 257


def _made(variant: str, scheme: Scheme, bits: tuple[int, ...] = (38, 50, 50, 55)) -> Subject:
    spec = ParameterSpec(scheme, 64, bits, plain_modulus=MODULUS, security=0)
    return harness.subject_with(variant, spec, NO_KEYS)


@WITH_WORDS
def test_the_client_gets_the_ciphertext_of_its_words_at_every_level(variant: str, scheme: Scheme) -> None:
    subject = _made(variant, scheme)
    evaluator, values = subject.evaluator, subject.vector(0)
    ciphertext = subject.encrypted(values)
    for level, count in ((2, 38), (1, 24), (0, 10)):
        parts = evaluator.words(ciphertext)
        assert evaluator.level(ciphertext) == level
        assert len(parts) == count == words.count(subject.parameters, level)
        assert all(part.shape == (64,) and 0 <= part.min() <= part.max() < 256 for part in parts)
        found = subject.owner.decrypt(subject.owner.from_words(parts, level))
        assert found[: len(values)].tolist() == values.tolist()
        if level:
            ciphertext = evaluator.apply("mod_switch", ciphertext)


@WITH_WORDS
def test_a_ciphertext_of_one_is_multiplied_by_each_word(variant: str, scheme: Scheme) -> None:
    """The products hold the words' digits, so that decrypting them and what they make together brings the values back:
    what a client of SealPIR does.
    """
    subject = _made(variant, scheme)
    evaluator, ring, values = subject.evaluator, Ring.of(subject.parameters), subject.vector(0)
    inner = subject.encrypted(values)
    for _ in range(2):
        inner = evaluator.apply("mod_switch", inner)
    one = transformed(evaluator, subject.encrypted(np.ones(64, dtype=np.int64)))
    parts = []
    for number, word in enumerate(evaluator.words(inner)):
        outer = restored(evaluator, evaluator.apply("mul_word", one, inner, number))
        parts.append(coefficients.coefficients_of(ring, subject.decrypted(outer)))
        assert parts[-1].tolist() == word.tolist()
    assert subject.owner.decrypt(subject.owner.from_words(parts))[: len(values)].tolist() == values.tolist()


@WITH_WORDS
def test_what_is_no_word_is_refused(variant: str, scheme: Scheme) -> None:
    subject = _made(variant, scheme)
    evaluator, owner = subject.evaluator, subject.owner
    x = subject.encrypted(subject.vector(0))
    parts = evaluator.words(x)
    with pytest.raises(Unsupported, match="no word"):
        evaluator.apply("mul_word", transformed(evaluator, x), x, len(parts))
    with pytest.raises(Unsupported, match="no word"):
        evaluator.apply("mul_word", transformed(evaluator, x), x, -1)
    for wrong in ([], parts[:-1]):
        with pytest.raises(ValueError, match="words are no ciphertext"):
            owner.from_words(wrong, 2)


@WITH_WORDS
def test_words_that_no_ciphertext_has_are_another_ciphertext(variant: str, scheme: Scheme) -> None:
    """An answer that went wrong is data: it is decrypted to something."""
    subject = _made(variant, scheme)
    parts = [np.full(64, 256) for _ in range(words.count(subject.parameters, 0))]
    found = subject.owner.decrypt(subject.owner.from_words(parts))
    assert found.shape == (64,)
    assert 0 <= found.min() <= found.max() < MODULUS


@pytest.mark.variants("seal", "seal-hexl")
def test_a_ciphertext_in_ntt_form_has_no_words(variant: str, scheme: Scheme) -> None:
    subject = _made(variant, scheme)
    turned = transformed(subject.evaluator, subject.encrypted(subject.vector(0)))
    with pytest.raises(ValueError, match="NTT form"):
        subject.evaluator.words(turned)
    with pytest.raises(ValueError, match="NTT form"):
        subject.evaluator.apply("mul_word", turned, turned, 0)


@where(lambda cell: "mul_word" not in cell.operations)
def test_a_library_without_access_to_words_says_so(variant: str, scheme: Scheme) -> None:
    spec = ParameterSpec(scheme, 4096, (36, 36, 37), plain_modulus=65537)
    subject = harness.subject_with(variant, spec, NO_KEYS)
    evaluator, x = subject.evaluator, subject.encrypted(np.arange(4))
    reason = "gives no access to the coefficients|gives no access to the elements"
    with pytest.raises(Unsupported, match=reason):
        evaluator.words(x)
    with pytest.raises(Unsupported, match=reason):
        evaluator.apply("mul_word", x, x, 0)
    with pytest.raises(Unsupported, match="this adapter composes no ciphertext from words"):
        subject.owner.from_words([np.zeros(4096, dtype=np.int64)])
