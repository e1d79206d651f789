"""What of a journal may be recorded, and how a plan moves to another run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ciphermark_benchmark.jobs.execution import belonging_to
from ciphermark_benchmark.runner import recorder
from ciphermark_benchmark.suite.plan import Block, ComparisonGroup, Plan, Refused
from ciphermark_core.budget import Budget
from ciphermark_core.model import Case, Outcome, ParameterSpec, Trial

SPEC = ParameterSpec("bfv", 1024, (27,), 65537)


def trial(name: str) -> Trial:
    return Trial(name, "first", Case("seal", "arithmetic", "add", SPEC, 1024, "random"), 0, 1, Budget())


def outcome(name: str, duration_s: float = 1.0) -> Outcome:
    return Outcome(trial(name), "ok", "2025-01-01T00:00:00+00:00", duration_s)


PLAN = Plan(
    (
        Block(SPEC, 1, (ComparisonGroup((trial("a1"), trial("a2"))), ComparisonGroup((trial("b1"),)))),
        Block(SPEC, 2, (ComparisonGroup((trial("c1"), trial("c2"))),)),
    ),
    (Refused(trial("u"), "no such thing", "out_of_memory"),),
)
MEMBERS = recorder.members(PLAN)


def together(name: str) -> tuple[str, ...]:
    return MEMBERS.get(name, (name,))


def test_every_trial_has_its_comparison_group() -> None:
    assert MEMBERS == {
        "a1": ("a1", "a2"),
        "a2": ("a1", "a2"),
        "b1": ("b1",),
        "c1": ("c1", "c2"),
        "c2": ("c1", "c2"),
        "u": ("u",),
    }


@pytest.mark.parametrize(
    ("journal", "known", "expected"),
    [
        ([], [], []),
        (["a1"], [], []),  # cut short
        (["a1", "a2"], [], [["a1", "a2"]]),
        (["a2", "b1", "a1", "u"], [], [["a1", "a2"], ["b1"], ["u"]]),
        (["a1", "a2", "b1"], ["a1", "a2"], [["b1"]]),  # another host was first
        (["a1", "c1", "c2"], [], [["c1", "c2"]]),
        (["gone"], [], [["gone"]]),  # of an earlier plan
    ],
)
def test_only_whole_comparison_groups_are_recorded(
    journal: list[str], known: list[str], expected: list[list[str]]
) -> None:
    found = recorder.whole(map(outcome, journal), together, set(known))
    assert [[item.trial.id for item in group] for group in found] == expected


def test_of_a_comparison_group_that_was_executed_again_the_second_time_counts() -> None:
    journal = [outcome("a1", 1), outcome("a1", 2), outcome("a2", 2)]
    ((first, second),) = recorder.whole(journal, together, set())
    assert (first.duration_s, second.duration_s) == (2, 2)


def test_a_plan_that_belongs_to_another_run_keeps_its_trials() -> None:
    moved = belonging_to("second", PLAN)
    assert [item.id for item in moved.trials] == [item.id for item in PLAN.trials]
    assert {item.run_id for item in moved.trials} == {"second"}
    assert moved.unsupported == ((replace(trial("u"), run_id="second"), "no such thing", "out_of_memory"),)
    assert [block.threads for block in moved.blocks] == [1, 2]
