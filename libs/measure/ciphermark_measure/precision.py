"""Predicted precision of a workload: its stages executed on drawn noise, and its own judgement of the outputs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ciphermark_contract.declaration import Declaration
from ciphermark_core.encryption import SECRET_KEY
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import Parameters
from ciphermark_model import precision
from ciphermark_model.noise import Execution, Noisy
from ciphermark_model.precision import DRAWS, Precision
from ciphermark_workloads.parameters import sends_seeded
from ciphermark_workloads.programs import Programs
from ciphermark_workloads.workload import Truth, Workload


def predicted(
    workload: Workload[Any, Any],
    programs: Programs,
    given: Any,
    parameters: Parameters,
    declared: Declaration,
) -> Precision:
    """The accuracy of a workload's outputs for an input like ``given``. In ckks, ``error`` is that of the output, by
    :meth:`Workload.judge`. ``programs`` are those of its stages.

    Raises ``Unsupported`` for programs outside the model.
    """
    if declared.noise is None:
        raise Unsupported(f"the noise of {declared.library} is not modeled")
    if sends_seeded(workload, declared):
        parameters = replace(parameters, encryption=SECRET_KEY)
    execution = Execution(parameters, declared.noise, DRAWS, np.random.default_rng(0))
    results: list[Noisy] = []
    for stage in workload.server_stages:
        traced = programs[stage.name].traced
        vectors = workload.vectors(stage.name, given, parameters)
        results = execution.run(traced.program, traced.constants, [*vectors, *results])
    found = precision.of_outputs(execution, results)
    if execution.is_exact:
        return found
    truth = Truth(given, workload.reference(given), workload.expected(given, parameters), parameters)
    judgements = [
        workload.judge(
            workload.output(precision.decrypted(execution, results, draw), given, parameters), truth
        )
        for draw in range(DRAWS)
    ]
    return precision.of_errors(execution, [item.accuracy.max_abs_error for item in judgements], 1.0)
