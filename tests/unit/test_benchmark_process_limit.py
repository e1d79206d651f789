"""How many processes a host holds side by side, and what is refused for it."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_adapters import registry
from ciphermark_adapters.registry import Availability
from ciphermark_benchmark.jobs.needs import Offer, reason_against
from ciphermark_benchmark.suite import files, plan, process_limit, shipped
from ciphermark_benchmark.suite.budget import BudgetText
from ciphermark_benchmark.suite.form import Suite
from ciphermark_benchmark.suite.process_limit import Capacity

SMALL = Capacity(cores=2, memory_mb=8192)
LABELS = [f"seal@l{number}" for number in range(60)]


def suite(*variants, **changes):
    experiment = {"kind": "arithmetic", "schemes": ["bfv"], "ring_dimension": [4096], "operations": ["add"]}
    experiments = [experiment | {"variants": list(names)} | changes for names in variants]
    return Suite(name="test", seed=1, budget=BudgetText(), experiments=experiments)


def blocks(made):
    names = {name for item in made.experiments for name in item.variants}
    available = {name: Availability(registry.declaration(name)) for name in names}
    return plan.make(str(uuid.UUID(int=1)), made, plan.cases(made, available)).blocks


@pytest.mark.parametrize(
    ("cores", "memory_mb", "most"), [(1, 65536, 24), (2, 65536, 48), (64, 1024, 8), (64, 65536, 512)]
)
def test_cores_and_memory_both_count(cores, memory_mb, most):
    assert Capacity(cores, memory_mb).most == most


@given(st.integers(1, 200), st.integers(1, 300), st.integers(64, 1 << 20), st.booleans())
def test_what_is_not_refused_fits_and_what_is_does_not(variants, cores, memory_mb, has_workloads):
    capacity = Capacity(cores, memory_mb)
    needed = capacity.needed(variants, has_workloads)
    assert needed >= variants
    assert (capacity.reason_against(variants, has_workloads) is None) == (needed <= capacity.most)


def test_sixty_labels_of_one_variant_are_refused_with_the_figure():
    told = process_limit.reason_against(blocks(suite(LABELS)), SMALL)
    assert told is not None
    assert told.startswith("60 variants side by side need 62 processes, and a host with 2 cores and 8192 MB")
    assert "holds 48" in told


def test_experiments_with_the_same_parameters_share_workers():
    """Neither alone is too much; both are in one block, and so are their workers."""
    made = suite(LABELS[:30], LABELS[30:])
    assert process_limit.reason_against(blocks(suite(LABELS[:30])), SMALL) is None
    assert process_limit.reason_against(blocks(made), SMALL) is not None


@pytest.mark.parametrize("path", ["quick", "smoke", "pir-report", "seal-vs-openfhe", "tenseal-ml"])
def test_what_is_shipped_fits_on_one_core(path):
    made = files.load(shipped.path(path))[0]
    assert process_limit.reason_against(blocks(made), Capacity(1, 4096)) is None


def offer(cores=2, variants=("seal",), memory_mb=65536):
    return Offer("alpha", "f00d", "CPU", variants, (), memory_mb, cores)


@pytest.mark.parametrize(
    ("chosen", "offers", "is_refused"),
    [
        ((), [], False),  # nobody is there who could tell
        ((), [offer()], True),
        ((), [offer(), offer(cores=1)], True),
        ((), [offer(), offer(cores=16)], False),
        ((), [offer(), offer(cores=16, memory_mb=8192)], True),
        ((), [offer(), offer(cores=None)], False),
        ((), [offer(variants=("tenseal",))], False),  # all unsupported: nothing is started
        (LABELS[:5], [offer()], False),
    ],
)
def test_at_the_edge_it_is_refused_where_no_host_holds_it(chosen, offers, is_refused):
    told = reason_against(suite(LABELS), chosen, offers)
    assert (told is not None) == is_refused
