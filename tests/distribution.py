"""How several processes share the tests: what shares something costly stays together, what takes longest is first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

# Files with the same archives imported, which takes seconds.
REFERENCE = frozenset(
    f"tests/integration/test_{name}.py" for name in ("dashboards_look", "docs_findings", "golden_outputs")
)
CONTRACT = re.compile(r"tests/contract/\w+\.py::\w+\[(?P<id>[^\]]+)")
# Units by the time that they take, the longest first; whatever is not named follows in its order.
LONGEST = (
    "tests/acceptance/test_compose.py",
    "tests/acceptance/test_kills.py",
    "tests/contract[openfhe]",
    "tests/integration[reference]",
    "tests/integration/test_docs_commands.py",
    "tests/acceptance/test_dashboard.py",
    "tests/integration/test_jobs.py",
    "tests/integration/test_run_misbehaviour.py",
    "tests/integration/test_run_user_workload.py",
    "tests/contract/test_recipe.py",
    "tests/integration/test_service_server.py",
    "tests/integration/test_service_secrecy_recorded.py",
    "tests/integration/test_cli_check.py",
    "tests/integration/test_builds.py",
    "tests/integration/test_dashboards_report.py",
    "tests/integration/test_run_data_sets.py",
    "tests/acceptance/test_serve.py",
    "tests/integration/test_run_learning.py",
    "tests/integration/test_service_client.py",
    "tests/integration/test_schemathesis_services.py",
    "tests/integration/test_cli_inspection.py",
    "tests/integration/test_service_benchmark.py",
    "tests/integration/test_db_embedded.py",
    "tests/integration/test_run_interrupted.py",
    "tests/integration/test_two_commands.py",
    "tests/integration/test_run_without_database.py",
    "tests/integration/test_jobs_two_hosts.py",
    "tests/integration/test_cli_figures.py",
    "tests/integration/test_every_parameter_is_told.py",
    "tests/integration/test_memory_order.py",
    "tests/integration/test_run_repetition.py",
    "tests/integration/test_run_orphaned_sessions.py",
    "tests/integration/test_cli_layers.py",
    "tests/integration/test_cli_figure.py",
    "tests/integration/test_run_learning_wide.py",
    "tests/integration/test_service_benchmark_deaths.py",
    "tests/acceptance/test_smoke.py",
)


@cache
def _variants() -> tuple[str, ...]:
    """All declared variants; one that another one's name begins with comes after it."""
    from ciphermark_adapters import registry

    return tuple(sorted(registry.declarations(), key=len, reverse=True))


def unit(test: str) -> str:
    """What one process executes as a whole: a file; files that share imported archives; or all that the contract suite
    has of one variant, whose keys are made once and whose own interpreter, if it has one, is started once.
    """
    found = CONTRACT.match(test)
    if found:
        for variant in _variants():
            if f"{found['id']}-".startswith(f"{variant}-"):
                return f"tests/contract[{variant}]"
    file = test.partition("::")[0]
    return "tests/integration[reference]" if file in REFERENCE else file


def longest_first(tests: Iterable[Any], name: Callable[[Any], str]) -> list[Any]:
    """The tests in the order of :data:`LONGEST`."""
    ranks = {unit_name: rank for rank, unit_name in enumerate(LONGEST)}
    return sorted(tests, key=lambda test: ranks.get(unit(name(test)), len(ranks)))


def scheduler(config: Any, log: Any) -> Any:
    """pytest-xdist's, which gives a process unit after unit."""
    from xdist.scheduler import LoadFileScheduling

    class ByUnit(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return unit(nodeid)

    return ByUnit(config, log)
