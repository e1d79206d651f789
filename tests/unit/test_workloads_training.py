"""The plaintext algorithms are right: by definition, and by the accuracy of converged logistic regression."""

from __future__ import annotations

import numpy as np
import pytest

from ciphermark_adapters import registry
from ciphermark_contract.checking import UNBOUNDED
from ciphermark_core.errors import UserError
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.data_sets import DATA_SETS
from ciphermark_workloads.learning import training
from ciphermark_workloads.learning.classifier import Result, Table, Task, split
from ciphermark_workloads.learning.lr_encrypted import K3, K5
from ciphermark_workloads.workload import Truth

BOSTON, SYNTHETIC = DATA_SETS["boston"](), DATA_SETS["synthetic"]()
SPLITS = 40


def _accuracy(name: str, task: Task) -> float:
    return float(np.mean(WORKLOADS[name].reference(task).labels == task.test.labels))


def test_linear_means_choose_the_nearer_mean() -> None:
    task = split(BOSTON, 0)
    one, zero = (rows.mean(axis=0) for rows in training.by_class(task.train))
    nearer = [np.linalg.norm(row - one) < np.linalg.norm(row - zero) for row in task.test.features]
    scores = training.predicted(training.linear_means(task.train), task)
    assert scores.labels.astype(bool).tolist() == nearer


def test_five_steps_are_as_good_as_converged_logistic_regression() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    tasks = [split(BOSTON, seed) for seed in range(SPLITS)]
    converged = np.mean(
        [
            linear_model.LogisticRegression(C=1e6, max_iter=5000)
            .fit(task.train.features, task.train.labels)
            .score(task.test.features, task.test.labels)
            for task in tasks
        ]
    )
    assert np.mean([_accuracy("lr-k5-plain", task) for task in tasks]) >= converged - 0.005
    assert np.mean([_accuracy("lr-fixed-encrypted", task) for task in tasks]) >= converged - 0.005
    assert np.mean([_accuracy("lr-k3-plain", task) for task in tasks]) >= converged - 0.015


def test_many_small_steps_find_what_the_sigmoid_defines() -> None:
    """The cubic is flatter than the sigmoid, so that weights end longer; their direction is that of the optimum."""
    linear_model = pytest.importorskip("sklearn.linear_model")
    generator = np.random.default_rng(1)
    features = generator.normal(size=(400, 3))
    labels = (features @ [1.0, -0.5, 0.2] + generator.logistic(size=400) > 0).astype(np.float64)
    table = Table(features, labels)
    descent = training.Descent(steps=400, rate=1.0, has_momentum=True)
    found = training.logistic_regression(table, descent)
    exact = linear_model.LogisticRegression(C=1e8).fit(features, labels)
    cosine = found[1:] @ exact.coef_[0] / np.linalg.norm(found[1:]) / np.linalg.norm(exact.coef_)
    assert cosine > 0.999


@pytest.mark.parametrize("descent", [K3, K5])
def test_rows_that_spread_far_are_shrunk(descent: training.Descent) -> None:
    boston, tumours = split(BOSTON, 0).train, split(DATA_SETS["breast-cancer"](), 0).train
    assert training.shrinkage(boston, descent) == 1.0
    assert training.shrinkage(tumours, descent) < 0.5


def test_every_algorithm_learns_from_the_second_data_set() -> None:
    tasks = [split(DATA_SETS["breast-cancer"](), seed) for seed in range(10)]
    for name in ("lmc-plain", "lr-k3-plain", "lr-k5-plain", "lr-fixed-encrypted"):
        assert np.mean([_accuracy(name, task) for task in tasks]) > 0.9


def test_alpha_is_chosen_on_training_rows_alone() -> None:
    task = split(BOSTON, 0)
    shuffled = Task(task.train, Table(task.test.features[::-1], 1 - task.test.labels))
    workload = WORKLOADS["lr-fixed-encrypted"]
    parameters = registry.load("cleartext").resolve(workload.parameters("bfv"))
    kappas = [workload.public("train", item, parameters)["kappa"] for item in (shuffled, task)]
    assert kappas[0] == kappas[1]
    assert 0.13 < training.fitting_alpha(task.train) < 0.15


def test_one_class_alone_is_refused() -> None:
    with pytest.raises(UserError, match="all of one class"):
        training.linear_means(Table(np.ones((3, 2)), np.ones(3)))


def test_three_steps_lose_less_than_the_published_ten() -> None:
    """CryptOracle's ten bootstrapped steps end at a loss of 0.604 on its table of as many rows and columns."""
    task = split(SYNTHETIC, 0)
    assert task.train.features.shape == (1024, 9)
    signs = np.where(task.train.labels == 1, 1, -1)
    scores = [
        weights[0] + task.train.features @ weights[1:]
        for weights in (
            training.logistic_regression(task.train, K3),
            training.published_regression(task.train),
        )
    ]
    ours, published = (np.log(1 + np.exp(-signs * score)).mean() for score in scores)
    assert ours < published < 0.604
    assert ours < 0.42


def test_losses_of_a_decrypted_model_are_results() -> None:
    workload, task = WORKLOADS["lr-k3-encrypted"], split(SYNTHETIC, 0)
    parameters = registry.load("cleartext").resolve(workload.parameters("ckks"))
    right = workload.reference(task)
    truth = Truth(task, right, right, parameters)
    results = workload.judge(right, truth).results
    assert results["training_loss"] == pytest.approx(training.loss(task.train, right.weights))
    assert results["training_loss"] < results["published_loss"]
    broken = workload.judge(Result(right.scores, np.full(10, np.nan)), truth)
    assert broken.results["training_loss"] == UNBOUNDED


def test_the_published_steps_are_nesterovs() -> None:
    """Written as by its authors: a step from the point ahead, then momentum."""
    task = split(SYNTHETIC, 1)
    rows = np.column_stack([np.ones(1024), task.train.features]) * np.where(task.train.labels, 1, -1)[:, None]
    theta = phi = np.zeros(10)
    for _ in range(10):
        gradient = -(rows / (1 + np.exp(rows @ theta))[:, None]).sum(axis=0)
        following = theta - 0.1 / 1024 * gradient
        theta, phi = following + 0.1 * (following - phi), following
    np.testing.assert_allclose(training.published_regression(task.train), phi, rtol=1e-12)
