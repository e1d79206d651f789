"""The recipe for an experiment, followed on a copy: one file; suites, plans, estimates and workers read its row."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from copies import copied, touched

import ciphermark_measure

PACKAGE = Path(ciphermark_measure.__file__).parent
FILE = '''
"""Experiment ``encryptions``: the time of encrypting vectors."""

from ciphermark_measure import operands
from ciphermark_measure.experiments.base import TRIAL_S, ExperimentKind, Findings, Sampled
from ciphermark_measure.sampling import Phase, make_ready, target


class Encryptions(Sampled):
    """Samples the encryption of a vector."""

    def open(self):
        vector = operands.operand(self.case, self.setting.trial.seed, 0)[: self.session.parameters.slots]
        bound = self.session.owner.bind_encrypt([(vector,)])
        goal = target(self.setting.trial.budget, self.setting.resolution_ns)
        phase = Phase("evaluate", [bound], goal, self.setting.clock, gate=self.setting.gate)
        make_ready(phase, 0, self.setting.trial.budget.warmups)
        self.phases = [phase]

    def close(self):
        self.sum_up()
        return Findings("ok", samples=tuple(self.phases[0].samples), facts=self.facts)


KINDS = (
    ExperimentKind(
        "encryptions",
        Encryptions,
        operations=("random", "zeros"),
        defaults=("random",),
        trial_s=lambda case, budget, times: budget.min_time_s + TRIAL_S + times.encrypt_s,
        reason=lambda case, declared: None,
    ),
)
'''
SUITE = """
name: mine
budget: {min_samples: 3, min_time_s: 0}
experiments:
  - {kind: encryptions, variants: [cleartext], schemes: [bfv], ring_dimension: [4096]}
"""
PROGRAM = """
import json, sys
from ciphermark_benchmark.runner import runs
from ciphermark_benchmark.runner.executor import Executor
from ciphermark_benchmark.suite import estimate, files, form, plan
from ciphermark_core import host
suite = files.parse(sys.argv[1], "mine")
planned = plan.cases(suite, runs.available(suite, host.collect()))
outcomes = []
Executor(outcomes.append).execute(plan.make("00000000-0000-0000-0000-000000000000", suite, planned), 1)
kinds = form.json_schema()["$defs"]["ExperimentText"]["properties"]["kind"]["enum"]
(outcome,) = outcomes
n = len([sample for sample in outcome.samples if not sample.is_warmup])
estimated = estimate.of_plan(planned, suite.budget.budget).seconds > 0
print(json.dumps(["encryptions" in kinds, outcome.trial.case.operation, outcome.status, n >= 3, estimated]))
"""


def test_an_experiment_is_one_file(tmp_path: Path) -> None:
    copy = copied(PACKAGE, tmp_path)
    (copy / "experiments" / "encryptions.py").write_text(FILE)
    assert touched(PACKAGE, copy) == {"experiments/encryptions.py"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, SUITE],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [True, "random", "ok", True, True]
