"""The page of all keys is what the form is, and its examples are ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from ciphermark_benchmark.suite import form
from ciphermark_benchmark.suite.fields import BudgetText, PlainModulus

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "suite-keys.md"
FORMS = (form.Suite, BudgetText, form.ExperimentText, form.FORMS["family"], PlainModulus)
# What a key needs beside it.
EXPERIMENT = {"kind": "arithmetic", "variants": ["seal"], "schemes": ["bfv"], "ring_dimension": [8192]}
WORKLOAD = {"kind": "micro", "variants": ["seal"], "workloads": ["logistic"]}
BESIDE: dict[tuple[str, str], dict[str, Any]] = {
    ("ExperimentText", "ring_dimension"): {"modulus_bits": [40, 40], "vector_length": [16]},
    ("ExperimentText", "scale_bits"): {"schemes": ["ckks"]},
    ("ExperimentText", "depth"): {"modulus_bits": "for-depth"},
    ("ExperimentText", "max_repetitions"): {"kind": "depth"},
    ("ExperimentText", "repetitions"): {"kind": "repetition"},
    ("WorkloadText", "kind"): {"workloads": ["lmc-encrypted"], "data_sets": ["boston"]},
    ("WorkloadText", "workloads"): {"kind": "learning", "data_sets": ["boston"]},
    ("WorkloadText", "data_sets"): {"kind": "learning", "workloads": ["lmc-encrypted"]},
    ("WorkloadText", "plain_modulus"): {
        "kind": "learning",
        "workloads": ["lmc-encrypted"],
        "data_sets": ["boston"],
    },
    ("BudgetText", "max_samples"): {"max_ci_half_width": "2%"},
    ("BudgetText", "max_time_s"): {"max_ci_half_width": "2%"},
}
BASES = {
    "Suite": {"name": "a", "experiments": [EXPERIMENT]},
    "ExperimentText": EXPERIMENT,
    "WorkloadText": WORKLOAD,
}
KEYS = [
    (model, name, example)
    for model in FORMS
    for name, field in model.model_fields.items()
    for example in field.examples or ()
]


def test_the_page_is_the_form_as_it_is() -> None:
    committed = PAGE.read_text(encoding="utf-8")
    assert committed == form.page() + "\n", (
        "generate it: ciphermark suite keys > docs/reference/suite-keys.md"
    )


@pytest.mark.parametrize("model", FORMS)
def test_every_key_has_a_meaning_and_an_example(model: Any) -> None:
    for name, field in model.model_fields.items():
        assert field.description, name
        assert field.examples or name == "experiments", name


@pytest.mark.parametrize(
    ("model", "name", "example"), KEYS, ids=lambda value: getattr(value, "__name__", None)
)
def test_every_example_is_accepted(model: Any, name: str, example: Any) -> None:
    base = BASES.get(model.__name__, {}) | BESIDE.get((model.__name__, name), {})
    model.model_validate(base | {name: example})


def test_a_key_without_what_it_needs_is_refused_as_ever() -> None:
    with pytest.raises(ValidationError):
        form.ExperimentText.model_validate(EXPERIMENT | {"depth": 3})
