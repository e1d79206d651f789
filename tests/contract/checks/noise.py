"""The noise budget is the key owner's to tell."""

from __future__ import annotations

from ciphermark_contract.interfaces import Handle

from ..harness import Subject


def shrinks(subject: Subject) -> None:
    """The budget shrinks with every multiplication, down to 0 and never below; ``None`` only where declared."""
    if subject.scheme == "ckks":
        assert _budget(subject, subject.encrypted(subject.vector(0))) is None
        return
    ciphertext = subject.encrypted(subject.vector(0))
    fresh = _budget(subject, ciphertext)
    if fresh is None:
        reason = subject.declared.reasons.get("noise_budget_bits", "")
        assert reason, "no noise budget, and no reason for noise_budget_bits is declared"
        return
    assert isinstance(fresh, int), f"the noise budget is {fresh!r}, not whole bits"
    if "mul" not in subject.managed.operations:
        return
    budgets = [fresh]
    while budgets[-1] > 0:
        ciphertext = subject.managed.apply("mul", ciphertext, ciphertext)
        budgets.append(_budget(subject, ciphertext))
        assert budgets[-2] > budgets[-1] >= 0, f"noise budgets after multiplications: {budgets}"
    ciphertext = subject.managed.apply("mul", ciphertext, ciphertext)
    assert _budget(subject, ciphertext) == 0, "the budget of an overwhelmed ciphertext is not 0"


def _budget(subject: Subject, ciphertext: Handle) -> int | None:
    return subject.owner.noise_budget_bits(subject.returned(ciphertext))
