"""The page of a recorded run: what it measured, its verdicts, parameters and failures, its host and builds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ciphermark_dashboards import rendering, templating, verdicts
from ciphermark_dashboards.pages import OVERVIEW_PATH, PAGES
from ciphermark_dashboards.store import Store
from ciphermark_present import charting, formats, host_state
from ciphermark_present.page import TIMES
from ciphermark_present.query import Row

_MAX_SETS = 8  # of parameters, before those behind a closed detail


def page(store: Store, run_id: str, navigation: Mapping[str, Any]) -> dict[str, Any]:
    """The context of the page's template for a run with its parts; ``navigation`` is that of ``base.html``."""
    parts = store.ask("parts", {"run_id": run_id}).mappings
    of_parts = {"parts": [part["run_id"] for part in parts]}
    libraries, refusals, failures, builds, sets = (
        store.ask(name, of_parts).mappings
        for name in ("libraries", "refusals", "failures", "builds", "parameter_sets")
    )
    facts = store.ask("run_facts", {"run_id": run_id}).mappings
    states = store.ask("host_state", {"run_id": run_id}).mappings
    variants = sorted({row["variant"] for row in libraries})
    return {
        "facts": facts[0] if facts else None,
        "parts": parts,
        "headline": headline(facts[0]["suite"], libraries) if facts else "",
        "libraries": libraries,
        "look": {name: charting.look(name, variants) for name in variants},
        "state": host_state.word(states),
        "states": [sentence for row in states for sentence in host_state.told(row)],
        "answers": _answers(navigation["links"], navigation.get("filled", ())),
        "verdicts": verdicts.of_run(store, run_id, TIMES.preferred or "") if libraries else [],
        "sets": sets,
        "max_sets": _MAX_SETS,
        "widest": max((sum(row["modulus_bits"]) for row in sets), default=1),
        "refusals": refusals,
        "failures": rendering.failures(failures),
        "whole": rendering.whole(failures, run_id, templating.LONGEST_CHARACTERS),
        "builds": builds,
    }


def headline(suite: str, libraries: Sequence[Row]) -> str:
    """How many cases of a suite have results, and what became of the others; ``libraries`` are rows of the block of
    that name.
    """
    ok, unsupported, failed = (
        sum(row[name] for row in libraries) for name in ("ok", "unsupported", "failed")
    )
    total = ok + unsupported + failed
    if not total:
        return f"{suite} has no results yet."
    names = len({row["variant"] for row in libraries})
    of_libraries = "1 library" if names == 1 else f"{names} libraries"
    rest = [f"{formats.count(unsupported)} unsupported"] * bool(unsupported)
    rest += [f"{formats.count(failed)} failed"] * bool(failed)
    measured = (
        f"all {formats.count(total)} cases"
        if ok == total
        else f"{formats.count(ok)} of {formats.count(total)} cases"
    )
    return f"{suite} measured {measured} with {of_libraries}{'; ' * bool(rest)}{', '.join(rest)}."


def _answers(links: Mapping[str, str], filled: Sequence[str]) -> list[tuple[str, str, str]]:
    """The questions that the run answers: address, title and question of each page with results."""
    pages = [(links[page.path], page.title, page.lead) for page in PAGES if page.path in filled]
    overview = (links[OVERVIEW_PATH], "Overview", "The best library for a computation.")
    return [overview, *pages] if pages else []
