"""Whatever is sent to the services, the answer is one that their description promises, and never a 5xx."""

from __future__ import annotations

from contextlib import suppress

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from running_services import Services
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

# A valid request may still be refused: the session that it names need not exist, nor the blob.
# Query parameters that nobody knows are ignored.
_NOT_PROMISED = [positive_data_acceptance, negative_data_rejection]
_SETTINGS = settings(
    max_examples=15, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


@pytest.fixture(scope="module")
def services(tmp_path_factory):
    made = Services(tmp_path_factory.mktemp("services"))
    yield made
    made.stop()


def held(operation, mode, headers):
    """Send requests to one operation, and hold every answer against the description; tells how many."""
    tried = []

    @given(case=operation.as_strategy(generation_mode=mode))
    @_SETTINGS
    def hold(case):
        tried.append(case.call_and_validate(headers=headers, excluded_checks=_NOT_PROMISED))

    with suppress(Unsatisfiable):  # nothing can be wrong about a request that has no parameters
        hold()
    return len(tried)


@pytest.mark.parametrize(
    "mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=lambda mode: mode.value
)
@pytest.mark.parametrize("name", ["client", "server"])
def test_a_service_answers_as_it_promises(services, name, mode):
    service = services.start(name)
    headers = {"Authorization": f"Bearer {service.token}"}
    schema = schemathesis.openapi.from_url(f"{service.url}/openapi.json", headers=headers)
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) >= 8
    assert sum(held(operation, mode, headers) for operation in operations) > 4 * len(operations)
    assert service.process.poll() is None
    assert not service.events("a bug")
