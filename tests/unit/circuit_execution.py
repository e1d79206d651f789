"""Circuits as programs over ``cleartext``: what they compute, and how many operations of each kind they take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ciphermark_adapters.cleartext.adapter import CleartextAdapter
from ciphermark_adapters.cleartext.declaration import DECLARATIONS
from ciphermark_contract.interfaces import Vector
from ciphermark_contract.program import Program, digest_of
from ciphermark_contract.tracing import Circuit, Form, fresh_inputs, trace
from ciphermark_core.model import Parameters, ParameterSpec

ADAPTER = CleartextAdapter(DECLARATIONS[0])


@dataclass(frozen=True)
class Execution:
    """A program and the decrypted slots of its outputs."""

    program: Program
    outputs: list[Vector]

    @property
    def counts(self) -> Mapping[str, int]:
        return Counter(node.operation for node in self.program.nodes)


def parameters(ring: int, levels: int, scale_bits: int = 40) -> Parameters:
    """A small, insecure ckks ring with primes for so many levels."""
    chain = (50, *[scale_bits] * levels, 50)
    return ADAPTER.resolve(ParameterSpec("ckks", ring, chain, None, scale_bits, security=0))


def literal_counts(circuit: Circuit, inputs: int, chosen: Parameters) -> Mapping[str, int]:
    """How often a circuit asks for each operation, also for what nothing needs. A product with 1 is none: it brings an
    operand to the scale of another, which libraries with automatic scaling do by themselves."""
    form = Form(is_literal=True)
    program = trace(circuit, chosen, fresh_inputs(chosen, inputs), form=form).program
    ones = digest_of(np.ones(chosen.slots))
    return Counter(
        node.operation
        for node in program.nodes
        if not (node.operation == "mul_plain" and program.constants[node.constants[0]].digest == ones)
    )


def executed(circuit: Circuit, vectors: Sequence[Vector], chosen: Parameters) -> Execution:
    """Trace a circuit for fresh inputs, and execute its program once on these."""
    traced = trace(circuit, chosen, fresh_inputs(chosen, len(vectors)))
    owner = ADAPTER.key_owner(chosen, traced.program.keys)
    evaluator = ADAPTER.evaluator(owner.public_material())
    inputs = [evaluator.load(owner.dump(owner.encrypt(vector), "none")) for vector in vectors]
    prepared = evaluator.prepare_constants(traced.program, traced.constants)
    bound = evaluator.bind_program(traced.program, inputs, prepared)
    bound.run(1)
    outputs = [owner.decrypt(owner.load(evaluator.dump(item, "none"))) for item in bound.results()]
    return Execution(traced.program, outputs)
