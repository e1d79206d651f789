"""Of every suite that is shipped: plans foretell of the real libraries what these refuse, and nothing else."""

from __future__ import annotations

import re
from functools import cache

import installed
import pytest

from ciphermark_adapters import registry
from ciphermark_adapters.registry import Availability
from ciphermark_benchmark.suite import files, plan, shipped
from ciphermark_benchmark.suite.feasibility import ParameterFeasibility
from ciphermark_benchmark.suite.plan import PlannedCase
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import Parameters, ParameterSpec
from ciphermark_measure.experiments import KINDS
from ciphermark_measure.parameter_selection import reason_against_operation, resolved

# SEAL with HEXL is the same code as without it, and has the same parameters.
VARIANTS = ("seal", "pyfhel", "tenseal")


@cache
def made(variant: str, spec: ParameterSpec) -> Parameters | str:
    """What the library itself makes of a request, or why it refuses."""
    try:
        return resolved(registry.load(variant), spec)
    except Unsupported as error:
        return str(error)


@cache
def planned(name: str) -> list[PlannedCase]:
    """All cases of a suite, as if every library were here."""
    suite, _ = files.load(shipped.path(name))
    named = {item for experiment in suite.experiments for item in experiment.variants}
    return plan.cases(suite, {item: Availability(registry.declaration(item)) for item in named})


def _is_long(name: str) -> bool:
    """Whether a suite repeats others at greater length, or has workloads alone, whose parameters the contract suite
    tries on every library.
    """
    # Its text, since to parse all suites takes two seconds in every process of tests.
    kinds = {*re.findall(r"\bkind: ([\w-]+)", shipped.path(name).read_text())}
    is_repeated = name.endswith(("-large", "-report")) or "-vs-" in name or name == "cryptoracle"
    return is_repeated or not kinds & KINDS.keys()


SUITES = [pytest.param(name, marks=[pytest.mark.extended] * _is_long(name)) for name in shipped.names()]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", SUITES)
def test_a_plan_and_the_library_agree(name: str, variant: str) -> None:
    here = installed.availability(variant)
    if here.reason is not None:
        pytest.skip(f"{variant}: {here.reason}")
    cases = [item for item in planned(name) if item.case.variant == variant]
    foretelling = ParameterFeasibility()
    for item in cases:
        case, spec = item.case, item.case.parameters
        if spec.scheme not in here.declaration.schemes:
            continue
        found = made(variant, spec)
        if case.experiment in KINDS:
            told = foretelling.reason_against(case, here.declaration)
            is_possible = isinstance(found, Parameters) and (
                case.experiment == "serialization" or reason_against_operation(case.operation, found) is None
            )
            assert (told is None) == is_possible, f"{case}: foretold {told}, found {found}"
            if item.expected is not None and isinstance(found, Parameters):
                expected = (item.expected.ring_dimension, item.expected.modulus_bits)
                assert expected == (found.ring_dimension, found.modulus_bits)
        assert item.reason is not None or isinstance(found, Parameters)
