"""The programs that a run measured, by what they are of."""

from __future__ import annotations

import pytest

from ciphermark_adapters.cleartext.adapter import CleartextAdapter
from ciphermark_adapters.cleartext.declaration import DECLARATIONS
from ciphermark_benchmark.cli import program
from ciphermark_contract.tracing import fresh_inputs, trace
from ciphermark_core.errors import UserError
from ciphermark_core.model import ParameterSpec
from ciphermark_db.database import StoredProgram

PARAMETERS = CleartextAdapter(DECLARATIONS[0]).resolve(
    ParameterSpec("ckks", 64, (60, 40, 60), scale_bits=40, security=0)
)
PROGRAM = trace(
    lambda evaluator, inputs: [evaluator.apply("negate", inputs[0])],
    PARAMETERS,
    fresh_inputs(PARAMETERS, 1),
).program
MEASURED = [
    StoredProgram("lmc", variant, "ckks", stage, {}, PROGRAM.to_bytes())
    for variant in ("a", "b")
    for stage in ("s", "t")
]


def test_each_is_called_by_what_it_is_of() -> None:
    found = program.of_run(MEASURED, None)
    assert list(found) == ["lmc, a, ckks, s", "lmc, a, ckks, t", "lmc, b, ckks, s", "lmc, b, ckks, t"]
    assert all(program == PROGRAM for program in found.values())
    assert list(program.of_run(MEASURED, "t")) == ["lmc, a, ckks, t", "lmc, b, ckks, t"]


def test_a_run_without_programs_is_told() -> None:
    with pytest.raises(UserError, match=r"has no program$"):
        program.of_run([], None)
    with pytest.raises(UserError, match="has no program of a stage 'u'"):
        program.of_run(MEASURED, "u")
