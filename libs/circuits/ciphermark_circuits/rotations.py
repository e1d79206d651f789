"""Rotations of one ciphertext, at once where a library shares what they have in common."""

from __future__ import annotations

from collections.abc import Sequence

from ciphermark_contract.interfaces import Evaluator, Handle

# What decomposes a ciphertext once for all of its rotations.
_HOISTED = ("rotate_hoisted",)


def all_of(evaluator: Evaluator, a: Handle, steps: Sequence[int]) -> list[Handle]:
    """``a`` turned by each of the steps, and itself for 0."""
    turns = [step for step in steps if step]
    hoisted = next((name for name in _HOISTED if name in evaluator.operations), None)
    if hoisted is not None and len(turns) > 1:
        made = iter(evaluator.apply(hoisted, a, *turns))
    else:
        made = (evaluator.apply("rotate", a, step) for step in turns)
    return [next(made) if step else a for step in steps]
