"""What the services tell of themselves: every body of every operation has an example, and the examples are right."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from ciphermark_benchmark.api import service as benchmark
from ciphermark_benchmark.api.suites import checked
from ciphermark_benchmark.api.views import ComparedRow, ResultRow, Submitted
from ciphermark_client import app as client
from ciphermark_client.data_sets import DataSets
from ciphermark_measure.parties import messages
from ciphermark_parties.api import model_of
from ciphermark_server import app as server
from ciphermark_web.keyring import Keyring
from ciphermark_web.problems import KINDS, bodies, spread
from ciphermark_web.serving import Listening

REPOSITORY = Path(__file__).parents[2]
SERVICES = ("client", "server", "benchmark")


@pytest.fixture(scope="module")
def applications(tmp_path_factory):
    folder = tmp_path_factory.mktemp("services")
    at = Listening("a service", "127.0.0.1", 0, Keyring("t" * 24), "info")
    environ = {"CIPHERMARK_BLOBS": str(folder / "blobs"), "CIPHERMARK_PRIVATE": str(folder / "private")}
    return {
        "client": client.make(at, environ),
        "server": server.make(at, environ),
        "benchmark": benchmark.application(
            "postgresql://nowhere/nothing", at, tmp_path_factory.mktemp("data_directory")
        ),
    }


def examples_of(body):
    """All examples of a body; none for bytes, which have none that can be read."""
    if body["schema"].get("format") == "binary":
        return []
    named = [item["value"] for item in body.get("examples", {}).values()]
    return named or [body["example"]]


@pytest.mark.parametrize("name", SERVICES)
def test_every_body_has_an_example_that_keeps_its_schema(applications, name):
    description = applications[name].openapi()
    assert len(list(bodies(description))) > 50
    for body in bodies(description):
        keeping = Draft202012Validator(body["schema"] | {"components": description["components"]})
        for example in examples_of(body):
            keeping.validate(example)


@pytest.mark.parametrize("name", SERVICES)
def test_every_field_of_a_request_or_an_answer_has_an_example(applications, name):
    """Also those that may be left out: composed examples leave them out, too."""
    schemas = applications[name].openapi()["components"]["schemas"]
    described = {
        f"{title}.{field}"
        for title, schema in schemas.items()
        for field, told in schema.get("properties", {}).items()
        if not {"examples", "default", "$ref", "items"} & told.keys()
    }
    assert {place for place in described if place.split(".")[0] not in FROM_THE_CORE} == set()


# Dataclasses, which know nothing of OpenAPI: whoever has one as a field gives an example of the whole.
FROM_THE_CORE = {
    "Accuracy",
    "Bootstrapping",
    "BootstrappingParameters",
    "KeySwitching",
    "LayerFacts",
    "LibraryInfo",
    "OperationCount",
    "ParameterSpec",
    "Parameters",
    "Sample",
    "Shape",
    "Stage",
}


@pytest.mark.parametrize(
    ("name", "path", "model"),
    [
        ("client", "/v1/sessions", model_of(messages.MakeKeys)),
        ("client", "/v1/sessions/{session_id}/encrypt", model_of(messages.Encrypt)),
        ("client", "/v1/sessions/{session_id}/score", model_of(messages.Score)),
        ("server", "/v1/sessions", model_of(messages.Load)),
        ("server", "/v1/sessions/{session_id}/evaluate", model_of(messages.Evaluate)),
        ("benchmark", "/v1/runs", Submitted),
    ],
)
def test_the_examples_of_requests_are_accepted(applications, name, path, model):
    """Models ask for more than a schema can say."""
    description = applications[name].openapi()
    composed = description["paths"][path]["post"]["requestBody"]["content"]["application/json"]["example"]
    own = description["components"]["schemas"][model.__name__].get("examples", [])
    for example in [composed, *own]:
        model.model_validate(example)


def test_the_suites_of_examples_are_suites():
    (by_name, as_json, as_yaml) = Submitted.model_config["json_schema_extra"]["examples"]
    assert (REPOSITORY / "suites" / f"{by_name['suite']}.yaml").exists()
    for text in (json.dumps(as_json["suite"]), as_yaml["suite_yaml"]):
        assert checked(text, "example").name == "mine"


def test_the_data_set_of_the_example_is_answered_as_told(applications, tmp_path):
    operation = applications["client"].openapi()["paths"]["/v1/data-sets"]["post"]
    data = operation["requestBody"]["content"]["text/csv"]["example"].encode()
    kept = DataSets(tmp_path).add(data, called="mine")
    assert asdict(kept) == operation["responses"]["201"]["content"]["application/json"]["example"]


def test_every_kind_of_problem_has_an_example_of_its_own(applications):
    told = {}
    for application in applications.values():
        for body in bodies(application.openapi()):
            if body["schema"].get("$ref", "").endswith("/ProblemBody"):
                told |= {kind: item["value"] for kind, item in body["examples"].items()}
    assert told.keys() == KINDS.keys() - {"internal"}  # which nothing promises
    for kind, problem in told.items():
        assert problem["type"] == f"urn:ciphermark:{kind}"
        assert (problem["status"], problem["title"]) == KINDS[kind][:2]
    assert len({problem["detail"] for problem in told.values()}) == len(told)


def test_rows_of_results_have_the_columns_of_the_view():
    page = (REPOSITORY / "docs/reference/sql/results.md").read_text(encoding="utf-8")
    assert list(ResultRow.model_fields) == re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert {"ratio", "verdict", "a_run_id", "b_run_id"} < ComparedRow.model_fields.keys()


def test_a_body_without_examples_stays_without():
    """One of a required field that has none, above all: half an example would be a wrong one."""
    half = {"properties": {"a": {"examples": [1]}, "b": {"type": "string"}}, "required": ["b"]}
    content = {
        "whole": {"schema": {"items": {"$ref": "#/components/schemas/Whole"}}},
        "half": {"schema": half},
        "none": {"schema": {"type": "array", "items": half}},
        "own": {"schema": {"examples": [1]}, "example": 2},
    }
    whole = {"properties": half["properties"], "required": ["a"]}
    spread(
        {
            "paths": {"/x": {"get": {"responses": {"200": {"content": content}}}}},
            "components": {"schemas": {"Whole": whole}},
        }
    )
    assert {kind: body.get("example") for kind, body in content.items()} == {
        "whole": [{"a": 1}],
        "half": None,
        "none": None,
        "own": 2,
    }
