"""What the suite tests: one variant with the parameters and keys of one scheme, made once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from ciphermark_adapters import registry
from ciphermark_contract.declaration import Declaration
from ciphermark_contract.interfaces import Adapter, Evaluator, Handle, KeyOwner, KeyRequest, Operator, Vector
from ciphermark_core.model import BootstrappingParameters, Parameters, ParameterSpec, Scheme
from ciphermark_measure.parties.in_process import InProcess
from ciphermark_workloads.catalogue import AnyWorkload
from ciphermark_workloads.parameters import NOTHING, Override, recommended
from ciphermark_workloads.workload import Judgement

RING = 4096
PLAIN_MODULUS = 65537
# The sizes of SEAL's default modulus chain at N = 4096: room for one multiplication and one modulus switch.
CHAIN = (36, 36, 37)
SPECS: Mapping[Scheme, ParameterSpec] = {
    "bfv": ParameterSpec("bfv", RING, CHAIN, PLAIN_MODULUS),
    "bgv": ParameterSpec("bgv", RING, CHAIN, PLAIN_MODULUS),
    "ckks": ParameterSpec("ckks", RING, (39, 30, 39), None, 30),
}
# Two multiplications deep where a scheme has levels to spend.
DEEP_SPECS: Mapping[Scheme, ParameterSpec] = {
    **SPECS,
    "ckks": ParameterSpec("ckks", 8192, (60, 40, 40, 60), None, 40),
}
# HElib's decoding of BGV takes 0.3 s at the ring of the others, and sixteen times less here.
SMALLER_SPECS: Mapping[tuple[str, Scheme], ParameterSpec] = {
    ("helib", "bgv"): replace(SPECS["bgv"], ring_dimension=RING // 4, security=0)
}
# What single operations need beyond these: seconds at this ring, and no security.
OWN_SPECS: Mapping[str, ParameterSpec] = {
    "bootstrap": ParameterSpec(
        "ckks",
        RING,
        (56, *[50] * 16, 60),
        scale_bits=50,
        security=0,
        tuning="recommended",
        secret_distribution="sparse ternary",
        bootstrapping=BootstrappingParameters(level_budget=(2, 2)),
    )
}
# Rotations by 3 = 4 − 1 could be made of these: see test_operations.
STEPS = (1, -1, 4, -4)


@dataclass(frozen=True, slots=True)
class Subject:
    """A variant under test, with both sides of the contract."""

    declared: Declaration
    adapter: Adapter
    parameters: Parameters
    owner: KeyOwner
    evaluator: Evaluator
    managed: Operator

    @property
    def scheme(self) -> Scheme:
        return self.parameters.spec.scheme

    @property
    def compression(self) -> str:
        return self.declared.compressions[0]

    def able(self, operations: Iterable[str]) -> list[str]:
        """Those of the operations that are declared, and that these parameters are enough for."""
        needs = {name for name, spec in OWN_SPECS.items() if spec != self.parameters.spec}
        return [
            name for name in operations if name in self.declared.operations[self.scheme] and name not in needs
        ]

    def of(self, operation: str) -> Subject:
        """The subject for an operation: this one, or one with the parameters that it needs."""
        spec = OWN_SPECS.get(operation, self.parameters.spec)
        return self if spec == self.parameters.spec else subject(self.declared.variant, spec)

    def encrypted(self, values: Vector) -> Handle:
        """Encrypt and hand over to the evaluator, as bytes."""
        return self.evaluator.load(self.owner.dump(self.owner.encrypt(values), self.compression))

    def returned(self, ciphertext: Handle) -> Handle:
        """Hand back to the owner, as bytes."""
        return self.owner.load(self.evaluator.dump(ciphertext, self.compression))

    def decrypted(self, ciphertext: Handle) -> Vector:
        return self.owner.decrypt(self.returned(ciphertext))

    def times(self, ciphertext: Handle, count: int) -> Handle:
        """The sum of as many of it, by as few additions as count has bits."""
        add, total, doubled = self.evaluator.operations["add"], None, ciphertext
        while count:
            if count % 2:
                total = doubled if total is None else add(total, doubled)
            doubled, count = add(doubled, doubled), count // 2
        return total

    def vector(self, seed: int, length: int | None = None) -> Vector:
        """Random values that fit the scheme, all slots unless ``length`` says otherwise."""
        generator = np.random.default_rng([20240607, seed])
        count = self.parameters.slots if length is None else length
        if self.scheme == "ckks":
            return generator.uniform(-1.0, 1.0, count)
        return generator.integers(0, self.parameters.plain_modulus, count, dtype=np.int64)


def all_keys(declared: Declaration, parameters: Parameters) -> KeyRequest:
    """Every key that a declared operation needs; those of bootstrapping with parameters for it alone."""
    keys = declared.key_kinds(parameters.spec.scheme)
    if parameters.bootstrapping is None:
        keys = replace(keys, bootstrapping=None)
    return keys | KeyRequest.of(rotations=STEPS if keys.rotations else ())


def subject_of(
    declared: Declaration, adapter: Adapter, spec: ParameterSpec, keys: KeyRequest | None = None
) -> Subject:
    """Resolve the parameters and make these keys, or all."""
    parameters = adapter.resolve(spec)
    owner = adapter.key_owner(parameters, all_keys(declared, parameters) if keys is None else keys)
    evaluator = adapter.evaluator(owner.public_material())
    return Subject(declared, adapter, parameters, owner, evaluator, evaluator.managed())


@cache
def adapter(variant: str) -> Adapter:
    return registry.load(variant)


@cache
def subject(variant: str, spec: ParameterSpec) -> Subject:
    """The subject of a specification, or of the smaller one that a variant has for it."""
    if spec == SPECS[spec.scheme]:
        spec = SMALLER_SPECS.get((variant, spec.scheme), spec)
    return subject_of(registry.declaration(variant), adapter(variant), spec)


def subject_with(variant: str, spec: ParameterSpec, keys: KeyRequest) -> Subject:
    """A subject of its own, with these keys."""
    return subject_of(registry.declaration(variant), adapter(variant), spec, keys)


def in_process(
    workload: AnyWorkload, variant: str, scheme: Scheme, given: Any, override: Override = NOTHING
) -> InProcess:
    """Both parties of a workload, with the parameters that it recommends for a library or other ones."""
    spec = recommended(workload, scheme, registry.declaration(variant), override)
    return InProcess(workload, adapter(variant), spec, given)


def judgement(both: InProcess, given: Any) -> Judgement:
    """What the client says of a pass."""
    outputs = both.executed(given)[both.workload.stages[-1].name].outputs
    return both.judged(both.output(outputs, given), given)
