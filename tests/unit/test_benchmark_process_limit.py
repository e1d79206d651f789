"""How many processes a host holds side by side, and what is refused for it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_adapters import registry
from ciphermark_adapters.registry import Availability
from ciphermark_benchmark.jobs.needs import Offer, reason_against
from ciphermark_benchmark.suite import files, plan, shipped
from ciphermark_benchmark.suite.capacity import Capacity
from ciphermark_benchmark.suite.fields import BudgetText
from ciphermark_benchmark.suite.form import Suite

SMALL = Capacity(cores=2, memory_mb=8192)
LABELS = [f"seal@l{number}" for number in range(60)]


def suite(*variants, **changes):
    experiment = {"kind": "arithmetic", "schemes": ["bfv"], "ring_dimension": [4096], "operations": ["add"]}
    experiments = [experiment | {"variants": list(names)} | changes for names in variants]
    return Suite(name="test", seed=1, budget=BudgetText(), experiments=experiments)


def available(made):
    names = {name for item in made.experiments for name in item.variants}
    return {name: Availability(registry.declaration(name)) for name in names}


def on_the_command_line(made, capacity, chosen=()):
    return plan.reason_against_suite(made, available(made), chosen, capacity)


def over_rest(made, capacity, chosen=()):
    return reason_against(made, chosen, [offer(capacity.cores, ("seal", "tenseal"), capacity.memory_mb)])


def offer(cores=2, variants=("seal",), memory_mb=65536):
    return Offer("alpha", "f00d", "CPU", variants, (), memory_mb, cores)


DOORS = pytest.mark.parametrize("door", [on_the_command_line, over_rest])


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


@DOORS
def test_sixty_labels_of_one_variant_are_refused_with_the_figure(door):
    told = door(suite(LABELS), SMALL)
    assert told is not None
    assert told.startswith("60 variants side by side need 68 processes, and a host with 2 cores and 8192 MB")
    assert "holds 48" in told


def workloads(*names, **changes):
    experiment = {"kind": "learning", "schemes": ["bfv"], "workloads": ["lmc-plain"], "data_sets": ["boston"]}
    experiments = [experiment | {"variants": list(own)} | changes for own in names]
    return Suite(name="test", seed=1, budget=BudgetText(), experiments=experiments)


@DOORS
@pytest.mark.parametrize(
    ("made", "is_refused"),
    [
        (suite(LABELS[:30]), False),
        (suite(LABELS[:30], LABELS[30:]), True),  # neither alone is too much; both share workers
        (suite(LABELS[:30], LABELS[:30]), False),  # the same ones
        (suite(LABELS[:30], LABELS[30:], threads=[1, 2]), True),
        (suite(LABELS[:30], ["tenseal@l1"]), False),
        (workloads(LABELS[:20]), False),  # two parties each
        (workloads(LABELS[:30]), True),
        (workloads(LABELS[:15], LABELS[15:30]), True),
        (
            suite(LABELS, modulus_bits=[27, 27, 27, 27, 27]),
            False,
        ),  # less secure than asked: nothing is started
    ],
)
def test_what_shares_workers_counts_whichever_experiment_it_is_of(door, made, is_refused):
    assert (door(made, SMALL) is not None) == is_refused


@DOORS
def test_experiments_with_parameters_of_their_own_have_their_workers_one_after_another(door):
    other = suite(LABELS[30:], ring_dimension=[8192]).experiments
    made = suite(LABELS[:30])
    assert door(made.model_copy(update={"experiments": [*made.experiments, *other]}), SMALL) is None


@DOORS
def test_only_what_was_chosen_counts(door):
    assert door(suite(LABELS), SMALL, LABELS[:5]) is None
    assert door(suite(LABELS), SMALL, LABELS[:59]) is not None


@pytest.mark.parametrize(
    "path",
    [
        "quick",
        "smoke",
        "cryptoracle",
        "cryptoracle-workloads",
        "pir-report",
        "seal-vs-openfhe",
        "tenseal-ml",
        "retrieval",
        "retrieval-large",
        "inference",
        "inference-large",
        "primitives",
        "primitives-large",
        "validation",
    ],
)
def test_what_is_shipped_fits_on_one_core(path):
    made = files.load(shipped.path(path))[0]
    assert on_the_command_line(made, Capacity(1, 4096)) is None


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
