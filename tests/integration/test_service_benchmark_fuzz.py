"""Whatever is sent to the benchmark service, the answer is one that its description promises, and never a 5xx."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from benchmark_service import TOKEN, Service, ended, started
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable

_HEADERS = {"Authorization": f"Bearer {TOKEN}"}
_SETTINGS = settings(
    max_examples=settings.default.max_examples // 3,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
_LEAST_OPERATIONS = 12


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, new_url: Callable[[], str]) -> Iterator[Service]:
    made = started(tmp_path_factory.mktemp("service"), new_url())
    yield made
    ended(made)


@pytest.mark.parametrize("mode", ["positive", "negative"])
def test_the_service_answers_as_it_promises(service: Service, mode: str) -> None:
    import schemathesis
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    # A valid request may still be refused: the run that it names need not exist, nor the suite.
    promised = {"headers": _HEADERS, "timeout": 60, "excluded_checks": [positive_data_acceptance]}
    schema = schemathesis.openapi.from_url(f"{service.url}/openapi.json", headers=_HEADERS)
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) >= _LEAST_OPERATIONS
    tried: list[int] = []

    def held(operation: schemathesis.schemas.APIOperation) -> None:
        @given(case=operation.as_strategy(generation_mode=schemathesis.GenerationMode(mode)))
        @_SETTINGS
        def hold(case: schemathesis.Case) -> None:
            tried.append(case.call_and_validate(**promised).status_code)

        with suppress(Unsatisfiable):  # nothing can be wrong about a request that has no parameters
            hold()

    for operation in operations:
        held(operation)
    assert len(tried) > 2 * len(operations)
    assert max(tried) < 500
    assert '"event": "a bug"' not in service.log.read_text()
