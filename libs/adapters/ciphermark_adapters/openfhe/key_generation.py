"""Keys made for nothing but the time that it takes."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

import openfhe

from ciphermark_contract.interfaces import Bound, Handle


class EvaluationKeyGeneration(Bound):
    """OpenFHE puts evaluation keys into maps by the tag of their secret key, and makes none for a tag that is there:
    each execution takes a secret key of its own, made off the clock. Afterwards the maps are what they were.
    """

    prepares_in_run = True

    def __init__(self, context: Any, generate: Callable[[Any], object]) -> None:
        self._context = context
        self._generate = generate

    def run(self, loops: int) -> int:
        """See the contract: the secret keys are made before the clock starts, and the maps restored after it ended."""
        secrets = [self._context.KeyGen().secretKey for _ in range(loops)]
        kept = _kept()
        start = perf_counter_ns()
        for secret in secrets:
            self._generate(secret)
        elapsed = perf_counter_ns() - start
        _restore(kept)
        return elapsed

    def results(self) -> list[Handle]:
        """None: the keys are forgotten."""
        return []


def _kept() -> tuple[dict[str, Any], dict[str, Any]]:
    kind = openfhe.CryptoContext
    products = {tag: kind.GetEvalMultKeyVector(tag) for tag in kind.GetAllEvalMultKeys()}
    turns = {tag: kind.GetEvalAutomorphismKeyMap(tag) for tag in kind.GetAllEvalAutomorphismKeys()}
    return products, turns


def _restore(kept: tuple[dict[str, Any], dict[str, Any]]) -> None:
    kind = openfhe.CryptoContext
    openfhe.ClearEvalMultKeys()
    kind.ClearEvalAutomorphismKeys()
    for tag, keys in kept[0].items():
        kind.InsertEvalMultKey(keys, tag)
    for tag, keys in kept[1].items():
        kind.InsertEvalAutomorphismKey(keys, tag)
