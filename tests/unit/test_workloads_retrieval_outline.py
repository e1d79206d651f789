"""Retrieval is planned by an outline of itself: as a whole it would be gigabytes. What its server needs is told."""

from __future__ import annotations

import tracemalloc

import pytest
from retrieval_costs import DATABASES, RING, resolved

from ciphermark_adapters import registry
from ciphermark_adapters.registry import Availability
from ciphermark_benchmark.cli import suite
from ciphermark_benchmark.suite import files, plan, shipped
from ciphermark_benchmark.suite.form import Suite
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.programs import all_traced
from ciphermark_workloads.retrieval.keyword_pir import Table, generated

# Whose ciphertexts are kept by coefficients, in NTT form, or both; seal has operations for sums of products.
LIBRARIES = dict.fromkeys(DATABASES, ("seal", "openfhe", "pyfhel")) | {"seal-pir": ("seal",)}


def program(workload, parameters, variant):
    given = workload.input(1, None)
    return all_traced(workload, given, parameters, registry.declaration(variant))["answer"].program


def planned(budget, *experiments):
    common = {"kind": "retrieval", "variants": ["seal"], "schemes": ["bfv"]}
    suite = Suite(name="test", budget=budget, experiments=[common | item for item in experiments])
    return plan.cases(suite, {"seal": Availability(registry.declaration("seal"))})


@pytest.mark.parametrize(
    ("name", "variant"), [(name, variant) for name, variants in LIBRARIES.items() for variant in variants]
)
def test_an_outline_takes_the_operations_levels_and_kinds_of_keys_of_the_whole(name, variant):
    whole = WORKLOADS[name].with_options(DATABASES[name])
    parameters = resolved(whole, ring_dimension=RING)
    full, brief = (program(workload, parameters, variant) for workload in (whole, whole.outline(parameters)))
    assert {node.operation for node in brief.nodes} == {node.operation for node in full.nodes}
    assert brief.depth == full.depth
    assert [brief.shapes[output] for output in brief.outputs[:1]] == [
        full.shapes[output] for output in full.outputs[:1]
    ]
    assert bool(brief.keys.rotations) == bool(full.keys.rotations)
    assert brief.keys.relinearization == full.keys.relinearization
    assert len(brief.constants) < len(full.constants)


def test_records_that_stand_for_more_find_their_places():
    """Those of outlines in every ring, by the default seeds."""
    for row in (512, 1024, 2048, 4096, 8192, 16384):
        assert (Table(row, 1).arranged(generated(row, 1)) >= 0).sum() == row


def test_few_records_are_planned_by_their_own_seed():
    """Of small tables some cannot be: that is told by the plan."""
    options = WORKLOADS["keyword-pir"].with_options({"records": 9, "hash_seed": 7})
    assert options.outline(resolved(options, ring_dimension=RING)).options.hash_seed == 7


def test_large_databases_are_planned_in_less_memory_than_they_have():
    """2^20 elements of 256 bytes, whose programs carry four times as much or more."""
    by_index = ["fast-pir", "batch-pir", "mul-pir", "seal-pir"]
    tracemalloc.start()
    try:
        found = planned(
            {"memory_mb": 1 << 16},
            {"workloads": by_index, "options": {"elements": [1 << 20], "element_bytes": [256]}},
            {"workloads": ["keyword-pir"], "options": {"records": [1 << 20], "value_bytes": [256]}},
        )
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [item.reason for item in found] == [None] * 5
    assert peak < 256 << 20


def test_memory_is_told_of_what_fits_and_of_what_does_not():
    """Of 2^20 × 256 bytes: 256 MiB, and 1024 MiB of plaintexts, as vectors, as such and in NTT form."""
    options = {"elements": [4096, 1 << 20], "element_bytes": [256]}
    small_one, large = planned({}, {"workloads": ["fast-pir"], "options": options})
    assert (small_one.server_mb, large.server_mb, large.reason) == (1 + 3 * 4, 256 + 3 * 1024, None)
    assert suite.as_dict(large)["server_mb"] == 3328
    table = suite.as_table([small_one, large])
    assert [row[-1] for row in table.rows] == ["13", "3328"]
    assert table.heads[-1].text == "server MB"
    _, refused = planned({"memory_mb": 3327}, {"workloads": ["fast-pir"], "options": options})
    assert (refused.status, refused.server_mb) == ("out_of_memory", 3328)


def test_the_large_suite_has_room_for_all_of_its_cases():
    suite, _ = files.load(shipped.path("retrieval-large"))
    names = {name for item in suite.experiments for name in item.variants}
    found = plan.cases(suite, {name: Availability(registry.declaration(name)) for name in names})
    assert [item.reason for item in found] == [None] * len(found)
    assert {item.case.dimensions.get("elements") for item in found} >= {1 << 18, 1 << 20}
    assert 0 < max(item.server_mb or 0 for item in found) <= 6144
