"""Computations are correct on every library that has their operations, with the parameters chosen for them."""

from __future__ import annotations

import computations
import pytest
from hypothesis import HealthCheck, given, settings

from ciphermark import computation, integers, reals
from ciphermark_adapters import registry
from ciphermark_contract.interfaces import Unsupported
from ciphermark_core.errors import UserError
from ciphermark_core.model import Scheme
from ciphermark_measure.parties.in_process import InProcess
from ciphermark_workloads.parameters import recommended

from . import harness

# The operations and parameters that a library lacks; anything else must be correct.
LACKING = (
    "has no",
    "offers no",
    "chooses the number of BFV primes",
    "at most 32 bits",
    "needs BGV primes",
    "grow with N²",
)


@pytest.mark.parametrize("name", computations.ALL)
def test_a_computation_is_correct(variant: str, scheme: Scheme, name: str) -> None:
    workload, adapter = computations.ALL[name], harness.adapter(variant)
    if scheme not in workload.schemes:
        with pytest.raises(Unsupported):
            workload.parameters(scheme)
        return
    given = workload.input(1, None)
    spec = recommended(workload, scheme, registry.declaration(variant))
    try:
        both = InProcess(workload, adapter, spec, given)
    except Unsupported as reason:
        if any(words in str(reason) for words in LACKING):
            return
        raise
    assert (both.parameters.security_by(both.parameters.spec.security_table) or 0) >= 128
    outputs = both.executed(given)["compute"].outputs
    judgement = both.judged(both.output(outputs, given), given)
    assert judgement.complaint is None


@pytest.mark.extended
@pytest.mark.variants("seal")
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(program=computations.programs())
def test_random_computations_never_decrypt_incorrectly(variant: str, scheme: Scheme, program) -> None:
    """300 programs in all: the chosen parameters suffice, or are refused."""
    length, steps = program
    is_whole = scheme != "ckks"
    declared = integers(length, -2, 2) if is_whole else reals(length)
    workload = computation(x=declared, y=declared)(computations.function_of(length, steps, is_whole))
    try:
        spec = workload.parameters(scheme)
    except UserError:
        return
    given_input = workload.input(1, None)
    both = InProcess(workload, harness.adapter(variant), spec, given_input)
    outputs = both.executed(given_input)["compute"].outputs
    judgement = both.judged(both.output(outputs, given_input), given_input)
    assert judgement.complaint is None
