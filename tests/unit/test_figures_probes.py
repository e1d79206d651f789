"""The flame graph: call stacks become functions with positions, callers before those that they call."""

from __future__ import annotations

from ciphermark_present.catalogue import probes
from ciphermark_present.query import Answer

STACKS = "evaluate;mul;ntt 60\nevaluate;mul 20\nevaluate;add;ntt 16\nevaluate;rare 1\nevaluate 3\n"
NAMES = ("case_info_id", "phase", "operation", "variant", "call_stacks")


def rows(*stacks: str, phase: str = "evaluate") -> list[dict[str, object]]:
    answer = Answer(NAMES, [(1, phase, "mul", "seal", text) for text in stacks])
    return probes.with_frames(answer, {}).mappings


def test_a_function_is_below_its_caller_and_as_wide_as_its_share() -> None:
    found = rows(STACKS)
    names = ("depth", "start", "end", "own_share")
    places = {row["place"]: tuple(round(row[name], 9) for name in names) for row in found}
    assert places == {
        "evaluate": (1, 0.0, 1.0, 0.03),
        "evaluate › mul": (2, 0.0, 0.8, 0.2),
        "evaluate › mul › ntt": (3, 0.0, 0.6, 0.6),
        "evaluate › add": (2, 0.8, 0.96, 0.0),
        "evaluate › add › ntt": (3, 0.8, 0.96, 0.16),
        "evaluate › rare": (2, 0.96, 0.97, 0.01),
    }


def test_processes_of_a_case_add_up_and_rare_functions_are_left_out() -> None:
    found = rows("a;b 299\n", "a;b 299\na;c 1\na;c 1\n")
    assert [(row["place"], row["share"]) for row in found] == [("a", 1.0), ("a › b", 598 / 600)]


def test_a_finding_names_the_function_wherever_it_is_called_from() -> None:
    assert probes.finding(rows(STACKS)) == "76% of mul is in ntt itself (seal)"
    assert not probes.finding([])


def test_without_stacks_there_is_no_chart() -> None:
    assert rows("no stack\n") == []
    assert probes.draw_flame([]) is None
