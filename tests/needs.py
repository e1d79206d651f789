"""The mark ``needs(reason)``: of all tests that lack one thing, one is skipped and says so in the name of all."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "needs(reason): cannot be executed here for this reason, unless it is None; skipped once for all",
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    lacking: dict[str, list[pytest.Item]] = {}
    for item in items:
        for mark in item.iter_markers("needs"):
            if mark.args[0] is not None:
                lacking.setdefault(mark.args[0], []).append(item)
    for reason, tests in lacking.items():
        tests[0].add_marker(pytest.mark.skip(reason=f"{reason} (tests that need it: {len(tests)})"))
    left_out = {id(test) for tests in lacking.values() for test in tests[1:]}
    items[:] = [item for item in items if id(item) not in left_out]
