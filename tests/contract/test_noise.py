"""The noise budget: the key owner tells it, in whole bits, where the library can."""

from __future__ import annotations

from ciphermark_adapters import registry
from ciphermark_core.model import EXACT_SCHEMES

from . import harness
from .checks import noise
from .harness import Subject


def test_noise_budget(subject: Subject) -> None:
    noise.shrinks(subject)


def test_a_fresh_budget_is_less_than_the_modulus(subject: Subject) -> None:
    budget = subject.owner.noise_budget_bits(subject.owner.encrypt(subject.vector(0)))
    if budget is not None:
        modulus_left = subject.parameters.log_q - subject.parameters.plain_modulus.bit_length()
        assert 0 < budget < modulus_left


def test_a_reason_is_declared_only_where_it_is_needed(variant: str) -> None:
    declared = registry.declaration(variant)
    schemes = [scheme for scheme in declared.schemes if scheme in EXACT_SCHEMES]
    subjects = [harness.subject(variant, harness.SPECS[scheme]) for scheme in schemes]
    budgets = [item.owner.noise_budget_bits(item.owner.encrypt(item.vector(0))) for item in subjects]
    assert ("noise_budget_bits" in declared.reasons) == (None in budgets)
    told = [scheme for scheme, budget in zip(schemes, budgets, strict=True) if budget is not None]
    assert told == [scheme for scheme in schemes if declared.reason_against_budget(scheme) is None]
