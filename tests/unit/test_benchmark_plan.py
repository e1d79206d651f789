from __future__ import annotations

import uuid
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import golden
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_adapters import registry
from ciphermark_adapters.registry import Availability
from ciphermark_benchmark.suite import estimate, plan
from ciphermark_benchmark.suite.fields import BudgetText, defaults
from ciphermark_benchmark.suite.form import Suite
from ciphermark_core.budget import Budget
from ciphermark_core.model import Case, ParameterSpec
from ciphermark_measure.experiments import KINDS
from ciphermark_measure.experiments.base import sampled_s

RUN = str(uuid.UUID(int=1))
OTHER_RUN = str(uuid.UUID(int=2))


def experiment(**changes):
    given = {"kind": "arithmetic", "variants": ["seal"], "schemes": ["bfv"], "ring_dimension": [4096]}
    return given | changes


def suite_of(*experiments, seed=1, **budget):
    return Suite(name="test", seed=seed, budget=BudgetText(**budget), experiments=list(experiments))


def available(suite):
    names = {name for item in suite.experiments for name in item.variants}
    return {name: Availability(registry.declaration(name)) for name in names}


def planned(*experiments, here=None):
    suite = suite_of(*experiments)
    return plan.cases(suite, available(suite) | (here or {}))


def reasons(*experiments, here=None):
    return [item.reason for item in planned(*experiments, here=here)]


def plan_of(*experiments, seed=1, run=RUN, **budget):
    suite = suite_of(*experiments, seed=seed, **budget)
    return plan.make(run, suite, plan.cases(suite, available(suite)))


# Expansion


@pytest.mark.parametrize(
    ("changes", "count"),
    [
        ({}, 4),  # the default operations
        ({"operations": ["add"]}, 1),
        ({"operations": ["add", "mul"], "variants": ["seal", "cleartext"]}, 4),
        ({"operations": ["add"], "schemes": ["bfv", "bgv", "ckks"]}, 3),
        ({"operations": ["add"], "ring_dimension": [4096, 8192, 16384]}, 3),
        ({"operations": ["add"], "vector_length": ["full", 1, 100]}, 3),
        ({"operations": ["add"], "data": ["constant", "random"]}, 2),
        ({"operations": ["add"], "threads": [1, 2]}, 2),
        ({"operations": ["add"], "tuning": "recommended"}, 1),
        ({"operations": ["add"], "tuning": ["matched", "recommended"]}, 2),
        (
            {
                "operations": ["add", "sub", "mul"],
                "variants": ["seal", "cleartext"],
                "schemes": ["bfv", "ckks"],
                "ring_dimension": [4096, 8192],
                "vector_length": ["full", 100],
                "data": ["constant", "random"],
            },
            3 * 2 * 2 * 2 * 2 * 2,
        ),
        ({"kind": "serialization"}, 2),
        ({"kind": "rotation"}, 3),
        ({"kind": "depth", "operations": ["mul"]}, 1),
    ],
)
def test_every_combination_is_a_case(changes, count):
    found = planned(experiment(**changes))
    assert len(found) == count
    assert len({item.case.key for item in found}) == count


def test_tunings_are_compared_apart():
    found = planned(
        experiment(operations=["add"], variants=["seal", "openfhe"], tuning=["matched", "recommended"])
    )
    assert [item.case.parameters.tuning for item in found] == [
        "matched",
        "matched",
        "recommended",
        "recommended",
    ]
    keys = [item.case.comparison_group for item in found]
    assert keys[0] == keys[1] != keys[2] == keys[3]


def test_full_is_the_number_of_slots():
    found = planned(experiment(schemes=["bfv", "ckks"], operations=["add"], vector_length=["full"]))
    assert [item.case.vector_length for item in found] == [4096, 2048]


def test_only_depth_and_noise_have_a_cap():
    found = planned(
        experiment(operations=["add"], max_repetitions=9),
        experiment(kind="depth", operations=["add"], max_repetitions=9),
        experiment(kind="noise", operations=["add"]),
    )
    assert [item.case.dimensions.get("max_repetitions") for item in found] == [None, 9, 16384]


def test_what_two_experiments_share_is_planned_once():
    found = planned(
        experiment(operations=["add", "mul"]),
        experiment(operations=["mul", "sub"], ring_dimension=[4096, 8192]),
    )
    assert [(item.case.operation, item.case.parameters.ring_dimension) for item in found] == [
        ("add", 4096),
        ("mul", 4096),
        ("sub", 4096),
        ("mul", 8192),
        ("sub", 8192),
    ]


def test_a_size_that_is_the_slots_is_the_case_of_full():
    assert len(planned(experiment(operations=["add"], vector_length=["full", 4096]))) == 1


def test_parameters_of_a_case():
    bfv, ckks = planned(
        experiment(operations=["add"], security=192, plain_modulus={"value": 65537}),
        experiment(operations=["add"], schemes=["ckks"], scale_bits=30),
    )
    assert bfv.case.parameters == ParameterSpec("bfv", 4096, plain_modulus=65537, security=192)
    assert ckks.case.parameters == ParameterSpec("ckks", 4096, (39, 30, 39), scale_bits=30)


def test_the_same_chain_is_asked_of_every_library_for_ckks():
    found = planned(
        experiment(
            variants=["seal", "tenseal", "pyfhel"],
            schemes=["ckks"],
            ring_dimension=[8192],
            operations=["add"],
        )
    )
    assert {item.case.parameters.modulus_bits for item in found} == {(60, 30, 30, 30, 60)}


@pytest.mark.parametrize("kind", KINDS)
def test_default_operations_are_known_ones(kind):
    assert {text.partition("(")[0] for text in defaults(kind)} <= set(KINDS[kind].operations)


# What cannot be, and why

IMPOSSIBLE = {
    "no batching prime": {"plain_modulus": {"bits": 10}},
    "t that does not batch": {"plain_modulus": {"value": 65539}},
    "chain above 128 bits": {"modulus_bits": [60, 60]},
    "chain above 192 bits": {"modulus_bits": [36, 36, 37], "security": 192},
    "ring below every table": {"ring_dimension": [512], "modulus_bits": [20], "plain_modulus": {"bits": 14}},
    "small primes": {"schemes": ["ckks"], "ring_dimension": [8192], "modulus_bits": [60, 25, 60]},
    "primes that do not exist": {"ring_dimension": [8192], "modulus_bits": [15, 15]},
    "scale without a chain": {"schemes": ["ckks"], "scale_bits": 40},
    "threads": {"threads": [4]},
    "scheme": {"variants": ["tenseal"], "schemes": ["bgv"]},
    "operation": {"operations": ["rescale"]},
    "fraction": {"variants": ["tenseal"], "operations": ["mul_scalar(0.5)"]},
    "rotation": {"kind": "rotation", "variants": ["tenseal"], "operations": ["rotate(1)"]},
    "rotation of columns": {"kind": "rotation", "schemes": ["ckks"], "operations": ["rotate_columns"]},
    "managed operation": {"kind": "depth", "variants": ["tenseal"], "operations": ["negate"]},
    "compression": {"kind": "serialization", "variants": ["tenseal"], "operations": ["zlib"]},
    "no compression": {"kind": "serialization", "variants": ["tenseal"], "operations": ["none"]},
}


def test_the_impossible_is_planned_with_its_reason():
    answers = {
        name: reasons(experiment(**({"operations": ["add"]} | IMPOSSIBLE[name]))) for name in IMPOSSIBLE
    }
    golden.compare(
        "plan-reasons.txt", "".join(f"{name}\n    {reason}\n" for name, (reason,) in answers.items())
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"modulus_bits": [60, 60], "security": "none"},
        {"modulus_bits": [36, 36, 37], "security": 128},
        {
            "schemes": ["ckks"],
            "ring_dimension": [8192],
            "modulus_bits": [60, 25, 60],
            "allow": ["small-primes"],
        },
        {"schemes": ["ckks"], "ring_dimension": [4096], "modulus_bits": [40, 25, 40]},  # small, but N is too
        {"schemes": ["ckks"], "ring_dimension": [8192], "modulus_bits": [60, 30, 60]},
        {"schemes": ["bfv"], "ring_dimension": [8192], "modulus_bits": [60, 25, 60]},  # bfv does not drift
        {"plain_modulus": {"value": 65537}},
        {"plain_modulus": {"bits": 16}},
        {"variants": ["seal@again"]},
    ],
)
def test_the_possible_has_no_reason(changes):
    assert reasons(experiment(**({"operations": ["add"]} | changes))) == [None]


def test_a_missing_library_is_told_with_its_remedy():
    missing = Availability(registry.declaration("tenseal"), "module tenseal is not installed", "make setup")
    found = reasons(
        experiment(variants=["seal", "tenseal"], schemes=["bfv", "bgv"], operations=["add"]),
        here={"tenseal": missing},
    )
    assert found == [None, "module tenseal is not installed; make setup", None, "TenSEAL offers no bgv here"]


def test_the_impossible_becomes_a_trial_without_a_worker():
    made = plan_of(experiment(operations=["add", "rescale"]), processes=3)
    assert [trial.case.operation for trial in made.trials] == ["add"] * 3
    ((trial, reason, _),) = made.unsupported
    assert trial.case.operation == "rescale"
    assert reason == "BFV and BGV have no scale: use mod_switch"


# Order and workers

WIDE = (
    experiment(
        variants=["seal", "seal-hexl", "cleartext"],
        schemes=["bfv", "ckks"],
        ring_dimension=[4096, 8192],
        operations=["add", "sub", "mul", "square"],
        data=["constant", "random"],
    ),
    experiment(kind="rotation", variants=["seal", "cleartext"]),
    experiment(kind="serialization", operations=["zstd"]),
)


def test_a_block_shares_what_its_workers_are_made_of():
    made = plan_of(*WIDE, processes=2)
    groups = Counter(
        (block.parameters, block.threads, block.comparison_groups[0].trials[0].process)
        for block in made.blocks
    )
    assert set(groups.values()) == {1}  # one block per parameter set, threads and process
    assert len(groups) == 4 * 2
    for block in made.blocks:
        for comparison_group in block.comparison_groups:
            for trial in comparison_group.trials:
                assert trial.case.parameters == block.parameters
                assert trial.case.threads == block.threads
                assert trial.process == block.comparison_groups[0].trials[0].process


def test_a_comparison_group_is_one_case_of_every_variant():
    made = plan_of(*WIDE)
    for block in made.blocks:
        for comparison_group in block.comparison_groups:
            assert len({trial.case.comparison_group for trial in comparison_group.trials}) == 1
            variants = [trial.case.variant for trial in comparison_group.trials]
            assert len(set(variants)) == len(variants)
    keys = [
        comparison_group.trials[0].case.comparison_group
        for block in made.blocks
        for comparison_group in block.comparison_groups
    ]
    assert len(set(keys)) == len(keys)


def test_every_case_is_executed_once_per_process():
    suite = suite_of(*WIDE, processes=3)
    found = plan.cases(suite, available(suite))
    made = plan.make(RUN, suite, found)
    count = Counter((trial.case.key, trial.process) for trial in made.trials)
    assert set(count.values()) == {1}
    assert set(count) == {(item.case.key, process) for item in found for process in range(3)}
    assert not made.unsupported


def test_threads_have_blocks_of_their_own():
    suite = suite_of(experiment(operations=["add"], threads=[1, 2]))
    able = replace(registry.declaration("seal"), has_threads=True)
    made = plan.make(RUN, suite, plan.cases(suite, {"seal": Availability(able)}))
    assert sorted(block.threads for block in made.blocks) == [1, 2]


def order(made):
    return [(trial.case.key, trial.process) for trial in made.trials]


def test_the_order_is_that_of_the_seed():
    assert order(plan_of(*WIDE, seed=5, processes=2)) == order(plan_of(*WIDE, seed=5, processes=2))
    orders = {tuple(order(plan_of(*WIDE, seed=seed, processes=2))) for seed in range(20)}
    assert len(orders) == 20
    assert len({frozenset(item) for item in orders}) == 1  # the same trials in another order


def test_comparison_groups_of_one_block_are_shuffled():
    operations = ["add", "sub", "mul", "square", "negate"]
    orders = set()
    for seed in range(20):
        (block,) = plan_of(experiment(operations=operations), seed=seed).blocks
        orders.add(
            tuple(comparison_group.trials[0].case.operation for comparison_group in block.comparison_groups)
        )
    assert len(orders) > 10
    assert {frozenset(item) for item in orders} == {frozenset(operations)}


def test_the_order_is_shuffled():
    in_file_order = [item.case.key for item in planned(*WIDE)]
    assert [key for key, _ in order(plan_of(*WIDE))] != in_file_order


def test_the_smallest_parameters_come_first_on_request():
    """Every process of a ring before the next ring, and workloads by the time of a pass."""
    suite = suite_of(
        experiment(ring_dimension=[16384, 4096, 8192], operations=["add"]),
        {
            "kind": "micro",
            "variants": ["seal"],
            "workloads": ["sign", "matrix-product-packed", "logistic"],
            "ring_dimension": [8192, 16384],
            "modulus_bits": [50, *[40] * 10, 50],
            "scale_bits": 40,
            "security": "none",
        },
        processes=2,
    ).model_copy(update={"order": "smallest-first"})
    planned = plan.cases(suite, available(suite))
    made = plan.make(RUN, suite, planned)
    rings = [block.parameters.ring_dimension for block in made.blocks]
    assert rings == sorted(rings)
    assert Counter(rings) == {4096: 2, 8192: 4, 16384: 4}
    seconds = {item.case.key: item.pass_time.seconds for item in planned if item.pass_time}
    passes = [[group.trials[0].case.key for group in block.comparison_groups] for block in made.blocks]
    of_workloads = [keys for keys in passes if len(keys) == 3]
    assert len(of_workloads) == 4
    assert all(keys == sorted(keys, key=seconds.__getitem__) for keys in of_workloads)


def test_the_ids_of_trials_are_stable_and_belong_to_the_run():
    ids = {trial.id for trial in plan_of(*WIDE, seed=1, processes=3).trials}
    assert ids == {trial.id for trial in plan_of(*WIDE, seed=2, processes=3).trials}
    assert ids > {trial.id for trial in plan_of(*WIDE).trials}
    assert len(ids) == 3 * len(plan_of(*WIDE).trials)
    assert ids.isdisjoint(trial.id for trial in plan_of(*WIDE, run=OTHER_RUN).trials)
    assert all(uuid.UUID(item) for item in ids)


def test_an_id_does_not_depend_on_the_rest_of_the_suite():
    alone = plan_of(experiment(operations=["add"]))
    among = plan_of(*WIDE, experiment(operations=["add"]))
    assert {trial.id for trial in alone.trials} <= {trial.id for trial in among.trials}


def test_data_are_the_same_for_every_variant_and_differ_else():
    seeds = {}
    for trial in plan_of(*WIDE, processes=2).trials:
        seeds.setdefault((trial.case.comparison_group, trial.process), set()).add(trial.seed)
    assert all(len(found) == 1 for found in seeds.values())
    vectors = {
        (
            trial.case.parameters,
            trial.case.vector_length,
            trial.case.data_pattern,
            trial.case.threads,
            trial.process,
        )
        for trial in plan_of(*WIDE, processes=2).trials
    }
    assert len(set.union(*seeds.values())) == len(vectors) < len(seeds)  # operations share them
    first = {trial.seed for trial in plan_of(*WIDE, seed=1).trials}
    assert first.isdisjoint(trial.seed for trial in plan_of(*WIDE, seed=2).trials)


# Resuming


@given(st.data())
def test_without_leaves_exactly_the_rest_in_order(data):
    made = plan_of(*WIDE, experiment(operations=["rescale"]), processes=2)
    everything = [trial.id for trial in made.trials] + [item.trial.id for item in made.unsupported]
    done = set(data.draw(st.lists(st.sampled_from(everything), unique=True)))
    rest = plan.without(made, done)
    assert [trial.id for trial in rest.trials] == [trial.id for trial in made.trials if trial.id not in done]
    assert [item.trial for item in rest.unsupported] == [
        item.trial for item in made.unsupported if item.trial.id not in done
    ]
    assert all(block.comparison_groups for block in rest.blocks)
    assert all(
        comparison_group.trials for block in rest.blocks for comparison_group in block.comparison_groups
    )


def test_without_everything_nothing_is_left():
    made = plan_of(*WIDE)
    rest = plan.without(made, {trial.id for trial in made.trials})
    assert rest.blocks == ()
    assert rest.trials == []


# Budget and estimate


def test_the_budget_of_a_trial_is_the_suites():
    (trial,) = plan_of(experiment(operations=["add"]), min_samples=77, memory_mb=100, timeout_s=9.5).trials
    assert trial.budget == Budget(min_samples=77, memory_mb=100, timeout_s=9.5)
    assert BudgetText().budget == Budget()


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({"max_ci_half_width": "2%"}, Budget(max_ci_half_width=0.02)),
        ({"max_ci_half_width": "0.5 %"}, Budget(max_ci_half_width=0.005)),
        (
            {"max_ci_half_width": 0.5, "max_samples": 8, "min_samples": 8},
            Budget(max_ci_half_width=0.5, min_samples=8, max_samples=8),
        ),
        (
            {"max_ci_half_width": 0.02, "min_samples": 100},
            Budget(max_ci_half_width=0.02, min_samples=100, max_samples=100),
        ),
        (
            {"max_ci_half_width": 0.02, "min_time_s": 20.0},
            Budget(max_ci_half_width=0.02, min_time_s=20.0, max_time_s=20.0),
        ),
        (
            {"max_ci_half_width": 0.02, "timeout_s": 5.0},
            Budget(max_ci_half_width=0.02, timeout_s=5.0, max_time_s=5.0),
        ),
        ({"max_ci_half_width": 0.02, "max_time_s": 3.0}, Budget(max_ci_half_width=0.02, max_time_s=3.0)),
    ],
)
def test_what_a_budget_with_a_precision_leaves_open(written, expected):
    assert BudgetText(**written).budget == expected


def seconds(*experiments, **budget):
    suite = suite_of(*experiments, **budget)
    return estimate.of_plan(plan.cases(suite, available(suite)), suite.budget.budget).seconds


def test_an_estimate_grows_with_everything_that_takes_time():
    one = seconds(experiment(operations=["add"]))
    assert one > 0
    assert seconds(experiment(operations=["add", "mul"])) > one
    assert seconds(experiment(operations=["add"], ring_dimension=[8192])) > one
    assert seconds(experiment(operations=["add"], variants=["seal", "cleartext"])) > one
    assert seconds(experiment(operations=["add"], vector_length=[100_000])) > one
    assert seconds(experiment(operations=["add"]), min_time_s=5.0) > one + 4
    assert seconds(experiment(operations=["add"]), processes=3) == pytest.approx(3 * one)


def test_an_estimate_has_encryption_once_for_a_vector():
    one, two = (seconds(experiment(operations=names)) for names in (["add"], ["add", "sub"]))
    other_vector = seconds(experiment(operations=["add"], data=["random", "constant"]))
    assert one < two < other_vector < 2 * one


def test_with_a_precision_an_estimate_lies_between_the_fewest_samples_and_the_most():
    few, some, many = (
        sampled_s(
            Budget(min_samples=8, min_time_s=0.0, max_samples=24, max_time_s=9.0, max_ci_half_width=asked),
            once_s,
        )
        for asked, once_s in ((None, 0.1), (0.02, 0.1), (0.02, 1.0))
    )
    around = few / 0.8
    assert 1 < around < 2
    assert some == pytest.approx(around * (0.8 + 1.6 * 2 / 3))
    assert many == pytest.approx(around * (8.0 + 1.0 * 2 / 3))


def test_an_estimate_leaves_out_what_is_not_executed():
    """But for its record, which takes milliseconds."""
    refused_s = seconds(experiment(operations=["rescale"]))
    assert refused_s < 0.01
    both_s = seconds(experiment(operations=["add", "rescale"]))
    assert both_s == pytest.approx(refused_s + seconds(experiment(operations=["add"])))


def test_an_estimate_of_depth_grows_with_the_cap():
    shallow, deep = (
        experiment(kind="depth", operations=["add"], max_repetitions=max_repetitions)
        for max_repetitions in (100, 10_000)
    )
    assert seconds(deep) > seconds(shallow)


def test_a_case_is_a_case_whatever_the_plan():
    (item,) = planned(experiment(operations=["add"]))
    assert item.case == Case(
        "seal", "arithmetic", "add", ParameterSpec("bfv", 4096, plain_modulus=1032193), 4096, "random"
    )


# Levels and residency of operands


def operands_of(*experiments):
    return [
        (
            item.case.variant,
            item.case.dimensions.get("level"),
            item.case.dimensions.get("residency"),
            item.reason,
        )
        for item in planned(*experiments)
    ]


LEVELED = {"schemes": ["ckks"], "ring_dimension": [8192], "modulus_bits": [50, 40, 40, 50], "scale_bits": 40}


def test_every_level_at_which_an_operation_exists_is_planned():
    at = {
        name: [
            level for _, level, _, _ in operands_of(experiment(operations=[name], levels="all", **LEVELED))
        ]
        for name in ("add", "mul", "mul_plain", "relinearize", "rescale", "mod_switch", "encode", "rotate(1)")
    }
    assert at == {
        "add": [2, 1, 0],
        "mul": [2, 1],  # at level 0 the scale of a product exceeds the prime
        "mul_plain": [2, 1],
        "relinearize": [2, 1],
        "rescale": [2, 1],
        "mod_switch": [2, 1],
        "encode": [2],
        "rotate(1)": [2, 1, 0],
    }


def test_levels_depend_on_the_library():
    several = experiment(
        variants=["seal", "tenseal", "openfhe"],
        schemes=["bfv"],
        ring_dimension=[8192],
        modulus_bits=[54, 54, 54],
        operations=["add"],
        levels="all",
        residency=["cached", "streamed"],
    )
    assert Counter(operands_of(several)) == Counter(
        (variant, level, residency, None)
        for variant, levels in {"seal": (1, 0), "tenseal": (1,), "openfhe": (1,)}.items()
        for level in levels
        for residency in ("cached", "streamed")
    )


def test_a_listed_level_that_is_none_has_its_reason():
    listed = experiment(variants=["seal", "tenseal"], operations=["mul"], levels=[3, 1, 0], **LEVELED)
    (_, high, _, too_high), one, (_, low, _, too_low), *of_tenseal = sorted(
        operands_of(listed), key=lambda item: (item[0], -item[1])
    )
    assert (high, one, low) == (3, ("seal", 1, None, None), 0)
    assert too_high == "the modulus chain has the levels 0 to 2, and no level 3"
    assert "does not exist at level 0" in too_low
    assert "operands stay at level 2" in of_tenseal[1][3]


def test_levels_that_only_the_library_knows_are_refused():
    ((_, level, _, reason),) = operands_of(experiment(variants=["openfhe"], operations=["add"], levels="all"))
    assert level is None
    assert "write modulus_bits" in reason


def test_a_case_without_choice_of_operands_has_no_dimension_of_them():
    (item,) = planned(experiment(operations=["add"]))
    assert item.case.dimensions == {}


def test_only_kinds_of_single_operations_choose_operands():
    with pytest.raises(ValueError, match="levels is for the kinds arithmetic and rotation, not for depth"):
        suite_of(experiment(kind="depth", levels="all"))


PROGRAM = {"kind": "deep", "variants": ["lattigo", "openfhe"], "workloads": ["helr"], "security": "none"}


def test_a_workload_that_bootstraps_has_recommended_tuning_on_every_library():
    assert [(item.case.parameters.tuning, item.reason) for item in planned(PROGRAM)] == [
        ("recommended", None)
    ] * 2
    matched, openfhe, *recommended = planned(PROGRAM | {"tuning": ["matched", "recommended"]})
    assert "one digit per prime would take gigabytes more of keys" in matched.reason
    assert [item.reason for item in (openfhe, *recommended)] == [None] * 3


def test_libraries_are_compared_where_a_suite_states_the_primes_of_a_program():
    lattigo, openfhe = planned(PROGRAM)
    assert lattigo.case.comparison_group != openfhe.case.comparison_group
    stated = {"modulus_bits": [56, *[55] * 23, 60], "scale_bits": 55}
    lattigo, openfhe = planned(PROGRAM | stated)
    assert lattigo.case.comparison_group == openfhe.case.comparison_group
    assert (lattigo.reason, openfhe.reason) == (None, None)


def test_without_bootstrapping_lattigo_has_no_recommended_tuning():
    (item, *_) = planned(experiment(variants=["lattigo"], tuning="recommended"))
    assert "leaves the number of special primes to the user" in item.reason


def test_other_workloads_are_matched_by_default():
    program = {"kind": "micro", "variants": ["seal"], "workloads": ["logistic"]}
    assert {item.case.parameters.tuning for item in planned(program)} == {"matched"}


def test_cases_of_one_level_and_residency_follow_each_other():
    chosen = experiment(
        operations=["add", "sub", "negate", "rotate(1)"],
        levels="all",
        residency=["cached", "streamed"],
        **LEVELED,
    )
    (block,) = plan_of(chosen).blocks
    leaders = {"arithmetic", "rotation"}
    places = [
        tuple(sorted(item.trials[0].case.dimensions.items()))
        for item in block.comparison_groups[len(leaders) :]
    ]
    changes = sum(a != b for a, b in pairwise(places))
    assert changes == len(set(places)) - 1


# Memory of workers

LARGE = {
    "schemes": ["ckks"],
    "ring_dimension": [131072],
    "modulus_bits": [60] + [50] * 14 + [60],
    "scale_bits": 50,
    "variants": ["seal", "seal-hexl"],
    "operations": ["add", "relinearize", "rotate(1)"],
    "security": {"bits": 128, "table": 2024},
}


def test_a_worker_whose_keys_do_not_fit_is_refused_with_the_bytes():
    suite = suite_of(experiment(**LARGE), memory_mb=2048)
    found = {(item.case.variant, item.case.operation): item for item in plan.cases(suite, available(suite))}
    assert {key for key, item in found.items() if item.reason is None} == {
        ("seal", "add"),
        ("seal-hexl", "add"),
    }
    refused = found["seal", "relinearize"]
    assert refused.status == "out_of_memory"
    # two keys of 15 digits, each of two polynomials of 16 primes
    assert f"evaluation keys take {2 * 15 * 2 * 16 * 131072 * 8 >> 20:,} MB" in refused.reason
    assert refused.reason.endswith("the budget allows 2,048 MB (memory_mb)")


@pytest.mark.parametrize(("host_mb", "blocks"), [(None, 1), (64_000, 1), (15_000, 2)])
def test_variants_that_do_not_fit_the_host_together_have_blocks_of_their_own(host_mb, blocks):
    suite = suite_of(experiment(**LARGE))
    made = plan.make(RUN, suite, plan.cases(suite, available(suite)), host_mb)
    assert len(made.blocks) == blocks
    assert len(made.trials) == 6
    assert Counter(len(group.trials) for block in made.blocks for group in block.comparison_groups) == (
        {2: 3} if blocks == 1 else {1: 6}
    )
