"""The registries of metrics, dimensions and experiments."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from ciphermark_core import descriptor, experiments, metrics
from ciphermark_core.descriptor import DATA_SET, DIMENSIONS, MAX_REPETITIONS
from ciphermark_core.experiments import EXPERIMENTS
from ciphermark_core.metrics import METRICS
from ciphermark_core.model import Case
from ciphermark_measure.experiments import KINDS


@pytest.mark.parametrize("metric", METRICS.values(), ids=list(METRICS))
def test_every_metric_says_what_a_reader_needs(metric: metrics.Metric) -> None:
    assert metric.unit
    assert metric.label
    assert metric.sentence.endswith(".")
    assert metric.threshold >= (0.0 if metric.threshold_kind == "difference" else 1.0)


def test_the_same_metric_may_be_registered_again_and_no_other_of_its_name() -> None:
    time = METRICS["time"]
    assert metrics.register(time) is time
    with pytest.raises(ValueError, match="another metric 'time'"):
        metrics.register(replace(time, unit="ms"))


def test_a_dimension_has_one_meaning() -> None:
    assert descriptor.register(MAX_REPETITIONS) is DIMENSIONS["max_repetitions"]
    with pytest.raises(ValueError, match="another dimension 'max_repetitions'"):
        descriptor.register(replace(MAX_REPETITIONS, sentence="Something else."))


def test_an_experiment_has_one_meaning() -> None:
    noise = experiments.register(KINDS["noise"].recorded)
    assert noise == EXPERIMENTS["noise"]
    with pytest.raises(ValueError, match="another experiment 'noise'"):
        experiments.register(replace(noise, determines="depth"))


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=list(EXPERIMENTS))
def test_what_an_experiment_determines_is_a_metric(experiment: experiments.Experiment) -> None:
    assert experiment.determines is None or experiment.determines in METRICS


def test_no_dimension_passes_for_a_field_of_cases() -> None:
    of_families = {name for name, dimension in DIMENSIONS.items() if dimension.is_of_family}
    assert not of_families & {field.name for field in fields(Case)}


def test_values_of_dimensions_are_of_their_kind() -> None:
    assert (
        MAX_REPETITIONS.of({"max_repetitions": 3}),
        MAX_REPETITIONS.of({}),
        DATA_SET.of({"data_set": "boston"}),
    ) == (3, None, "boston")
    with pytest.raises(TypeError, match="max_repetitions is True, no int"):
        MAX_REPETITIONS.of({"max_repetitions": True})
