"""Predictions that are made up, for tests of advice: of a few libraries, at no cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ciphermark_adapters import registry
from ciphermark_adapters.registry import Availability
from ciphermark_benchmark import advising
from ciphermark_benchmark.advising import UncoveredError, Wish
from ciphermark_benchmark.api import machines
from ciphermark_benchmark.limits import read
from ciphermark_benchmark.predicting import resolved
from ciphermark_core import host
from ciphermark_core.model import ParameterSpec
from ciphermark_model.prediction import Prediction, Share
from ciphermark_model.quantity import Quantity
from ciphermark_workloads.catalogue import WORKLOADS, AnyWorkload

SPEED = {"seal": 1.0, "seal-hexl": 0.5, "tenseal": 2.0}
REMARK = "the clock is another one"


def around(value: float) -> Quantity:
    return Quantity(value, 0.98 * value, 1.02 * value)


def predicted(workload: AnyWorkload, spec: ParameterSpec, variant: str, threads: int) -> Prediction:
    """Time grows with the ring, the primes, and the variant; a second thread saves a third of it and takes memory."""
    if variant not in SPEED:
        raise UncoveredError(f"{variant} has no cost table on this host")
    parameters = resolved(workload, registry.declaration(variant), spec)
    work = parameters.ring_dimension * len(parameters.moduli) ** 2 * 1e-6 * SPEED[variant]
    evaluation = around(work * (1.0 if threads == 1 else 0.67))
    return Prediction(
        variant=variant,
        parameters=parameters,
        threads=threads,
        table="0" * 64,
        times_s={
            ("server", "compute", "evaluate"): evaluation,
            ("client", "compute", "encrypt"): around(1e-3),
        },
        evaluation=evaluation,
        shares=(Share("mul", 3, 5, 0.8 * work), Share("add", 3, 9, 0.2 * work)),
        upload_bytes=100_000,
        download_bytes=50_000,
        key_bytes=1_000_000,
        client_memory_bytes=100_000_000,
        server_memory_bytes=200_000_000 + parameters.ring_dimension * 1000 * threads,
    )


def available(*variants: str) -> dict[str, Availability]:
    return {name: Availability(registry.declaration(name)) for name in variants}


def answer(wish: Wish, *variants: str) -> tuple[list[Any], dict[str, Any]]:
    """The candidates of variants, and the answer."""
    several = advising.candidates(wish, available(*variants), predicted)
    return several, advising.answered(wish, several, [REMARK])


class Service:
    """The benchmark service as the page of advice has it, over these predictions."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    async def advisees(self) -> list[str]:
        return ["sign", "logistic"]

    async def advise(self, body: Mapping[str, Any]) -> dict[str, Any]:
        self.asked.append(dict(body))
        rest = {name: value for name, value in body.items() if name != "workload"}
        wish = advising.wished(WORKLOADS[body["workload"]], body["workload"], read(rest), host.collect())
        return answer(wish, "seal", "seal-hexl", "tenseal", "openfhe")[1]

    async def machines(self) -> dict[str, Any]:
        return machines.listed()

    async def predict_on_machine(self, body: Mapping[str, Any]) -> dict[str, Any]:
        self.asked.append(dict(body))
        return await machines.predicted(machines.Question.model_validate(body))

    async def close(self) -> None:
        pass
