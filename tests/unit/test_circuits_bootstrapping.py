"""The circuit of packed bootstrapping, executed on plain complex slots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from ciphermark_adapters import registry
from ciphermark_circuits import bootstrapping
from ciphermark_contract.interfaces import Evaluator, Handle
from ciphermark_contract.tracing import Traced, fresh_inputs, trace
from ciphermark_core.model import Bootstrapping, BootstrappingParameters, Parameters, ParameterSpec

RING = 128
SLOTS = RING // 2
STAGES = bootstrapping.transforms(SLOTS, layers=2)
OPERATIONS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "add_plain": lambda a, b: a + b,
    "sub_plain": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "square": lambda a: a * a,
    "mul_plain": lambda a, b: a * b,
    "rotate": lambda a, steps: np.roll(a, -steps),
    "conjugate": np.conj,
    **dict.fromkeys(("relinearize", "rescale", "mod_switch"), lambda a: a),
}


def parameters() -> Parameters:
    """A ring with two levels left after the depth of the circuit: three a transform, eight for the reduction."""
    chain = (45, *[40] * (2 + STAGES.depth), 45)
    asked = BootstrappingParameters((len(STAGES.to_slots), len(STAGES.to_coefficients)))
    resolved = registry.load("cleartext").resolve(
        ParameterSpec("ckks", RING, chain, scale_bits=40, security=0)
    )
    return replace(resolved, bootstrapping=Bootstrapping(asked, STAGES.depth, error=1e-5))


def packed(evaluator: Evaluator, raised: Handle) -> Handle:
    return bootstrapping.bootstrapped(evaluator, raised, STAGES)


def traced(of: Parameters, circuit: Callable[[Evaluator, Handle], Handle] = packed) -> Traced:
    """The circuit on a raised ciphertext."""
    return trace(
        lambda evaluator, inputs: [circuit(evaluator, inputs[0])],
        of,
        fresh_inputs(of, 1),
        OPERATIONS,
    )


def executed(program: Traced, value: np.ndarray) -> np.ndarray:
    values = [value]
    for node in program.program.nodes:
        constants = [program.constants[program.program.constants[i].digest] for i in node.constants]
        operands = [values[i] for i in node.operands]
        values.append(OPERATIONS[node.operation](*operands, *constants, *node.arguments))
    return values[program.program.outputs[0]]


def slots_of(coefficients: np.ndarray) -> np.ndarray:
    """The values of a real polynomial at ζ^(5^j)."""
    powers = [pow(5, j, 2 * RING) for j in range(SLOTS)]
    points = np.exp(1j * np.pi * np.array(powers) / RING)
    return np.polynomial.polynomial.polyval(points, coefficients)


def test_multiples_of_q_are_removed() -> None:
    """The sine differs from its argument by (2πm)³/6 at most, the cosine's polynomial by 1e-9."""
    random = np.random.default_rng(5)
    message = random.uniform(-1e-3, 1e-3, RING)
    multiples = random.integers(-bootstrapping.RANGE + 1, bootstrapping.RANGE, RING)
    program = traced(parameters())
    found = executed(program, slots_of(message + multiples))
    assert program.program.depth == STAGES.depth
    np.testing.assert_allclose(found, slots_of(message), rtol=0, atol=1e-5)


def test_one_coefficient_alone_is_bootstrapped() -> None:
    """The sine's error as above; the exponential's polynomial leaves 64·(2π·4/64)^8/8! < 1e-6 of it."""
    random = np.random.default_rng(6)
    coefficients = random.uniform(-1, 1, RING)
    coefficients[0] = 7e-4 + 4
    program = traced(parameters(), bootstrapping.bootstrapped_alone)
    found = executed(program, slots_of(coefficients))
    np.testing.assert_allclose(found, 7e-4, rtol=0, atol=1e-6)


def test_every_bootstrap_of_a_program_is_expanded() -> None:
    """The state is bootstrapped twice; both copies share their constants."""
    of = parameters()

    def circuit(evaluator: Evaluator, inputs: Sequence[Handle]) -> list[Handle]:
        state = evaluator.apply("bootstrap", inputs[0])
        state = evaluator.apply("add", state, state)
        return [evaluator.apply("bootstrap", state), state]

    macro = trace(circuit, of, fresh_inputs(of, 1)).program
    body = traced(of)
    whole = bootstrapping.expanded(macro, body.program)
    assert len(whole.nodes) == 1 + 2 * (1 + len(body.program.nodes))
    assert whole.constants == body.program.constants
    raised = [node.results[0].level for node in whole.nodes if node.operation == "bootstrap"]
    assert raised == [len(of.moduli) - 1] * 2
    assert [whole.shapes[output].level for output in whole.outputs] == [2, 2]
    assert whole.from_bytes(whole.to_bytes()) == whole
    with pytest.raises(ValueError, match="other parameters"):
        bootstrapping.expanded(replace(macro, parameters=replace(of, scale=2.0**41)), body.program)
