"""Libraries that bootstrap are ranked together: alone, and in a program whose primes a suite states."""

from __future__ import annotations

import pytest

from ciphermark_adapters import registry
from ciphermark_measure import probes

VARIANTS = ["lattigo", "openfhe"]
SMALL = """
from ciphermark_circuits import helr
from ciphermark_workloads.deep.bootstrapped import Ring
from ciphermark_workloads.deep.helr import Helr


class Small(Helr):
    name = "small-helr"
    title = "logistic regression in a small ring"
    ring = Ring(helr.DEPTH + 1, 512, level_budget=(2, 2))
"""
ALONE = {
    "kind": "bootstrapping",
    "variants": VARIANTS,
    "schemes": ["ckks"],
    "ring_dimension": [1024],
    "modulus_bits": [56, *[52] * 16, 60],
    "scale_bits": 52,
    "tuning": ["recommended"],
    "secret_distribution": "sparse ternary",
    "bootstrapping": {"level_budget": [2, 2], "slots": 16},
    "security": "none",
}
PROGRAM = {
    "kind": "deep",
    "variants": VARIANTS,
    "workloads": ["./small.py"],
    "options": {"features": [7], "samples": [60], "iterations": [2]},
    "modulus_bits": [56, *[55] * 21, 60],
    "scale_bits": 55,
    "security": "none",
}
RANKED = """
select phase, array_agg(variant order by variant) as variants from ranking
where tuning = 'recommended' and phase in ('evaluate', 'iteration-1', 'iteration-2')
group by comparison_group, phase order by phase
"""


@pytest.mark.extended
def test_libraries_that_bootstrap_are_ranked_together(ciphermark, tmp_path):
    flags = frozenset(probes.host_facts().cpu_flags)
    if not all(registry.availability(variant, flags).is_installed for variant in VARIANTS):
        pytest.skip("not both libraries are built here")
    (tmp_path / "small.py").write_text(SMALL)
    suite = ciphermark.suite(ALONE, PROGRAM, min_samples=2, warmups=0, memory_mb=1500)
    ciphermark("run", str(suite))
    assert [item["status"] for item in ciphermark.outcomes()] == ["ok"] * 4
    ranked = [(row["phase"], row["variants"]) for row in ciphermark.rows(RANKED)]
    assert ranked == [(phase, VARIANTS) for phase in ("evaluate", "iteration-1", "iteration-2")]
    assert "nothing to compare" not in ciphermark("summary", "last").out
