"""A workload small enough for unit tests, over the real contract: class sums are trained, rows are scored by them."""

from __future__ import annotations

import numpy as np

from ciphermark_contract.interfaces import KeyRequest
from ciphermark_core.model import ParameterSpec
from ciphermark_workloads.learning.classifier import (
    TRAINED_ENCRYPTED,
    TRAINED_IN_THE_CLEAR,
    Classifier,
    Result,
    Table,
    Task,
)

COLUMNS = 4


class Tiny(Classifier):
    """Score of a row x: (sum of rows of class 1 − sum of rows of class 0) · x, on encrypted data throughout."""

    name = "tiny"
    title = "Sums of two classes"
    stages = TRAINED_ENCRYPTED
    schemes = ("bfv", "ckks")

    def operations(self, scheme):
        return ("sub", "mul")

    def parameters(self, scheme):
        self.require_scheme(scheme)
        if scheme == "ckks":
            return ParameterSpec("ckks", 8192, (60, 40, 60), scale_bits=40)
        return ParameterSpec("bfv", 8192, None, plain_modulus=1032193)

    def keys(self, parameters):
        return KeyRequest.of(relinearization=True)

    def input(self, seed, data):
        """Small integers, so that bfv computes exactly; rows come from the seed."""
        numbers = np.random.default_rng(seed)

        def table(rows):
            labels = np.arange(rows) % 2.0
            features = numbers.integers(-4, 5, (rows, COLUMNS)) + 2 * (2 * labels - 1)[:, None]
            return Table(features.astype(np.float64), labels)

        return Task(table(20), table(5))

    def public(self, stage, task, parameters):
        return {"rows": np.array([float(len(task.test.labels))])}

    def vectors(self, stage, task, parameters):
        if stage == "train":
            vectors = [self._sum(task.train, 1.0), self._sum(task.train, 0.0)]
        else:
            vectors = list(task.test.features)
        if parameters.plain_modulus is None:
            return vectors
        return [np.round(vector).astype(np.int64) % parameters.plain_modulus for vector in vectors]

    def circuit(self, stage, evaluator, inputs, state, public):
        managed = evaluator.managed()
        if stage == "train":
            return [managed.apply("sub", *inputs)]
        assert len(inputs) == int(public["rows"][0])
        return [managed.apply("mul", row, state[0]) for row in inputs]

    def output(self, outputs, task, parameters):
        modulus = parameters.plain_modulus
        sums = np.array([float(np.sum(self._centred(vector[:COLUMNS], modulus))) for vector in outputs])
        return Result(sums)

    def reference(self, task):
        weights = self._sum(task.train, 1.0) - self._sum(task.train, 0.0)
        return Result(task.test.features @ weights, weights)

    @staticmethod
    def _sum(table, label):
        return table.features[table.labels == label].sum(axis=0)

    @staticmethod
    def _centred(values, modulus):
        if modulus is None:
            return values
        return np.where(values > modulus // 2, values - modulus, values)


class TinyPlain(Tiny):
    """The same with weights that the server knows in the clear."""

    name = "tiny-plain"
    stages = TRAINED_IN_THE_CLEAR

    def operations(self, scheme):
        return ("mul_plain",)

    def public(self, stage, task, parameters):
        return {"weights": self.reference(task).weights} if stage == "train" else {}

    def circuit(self, stage, evaluator, inputs, state, public):
        modulus = evaluator.parameters.plain_modulus
        weights = public["weights"]
        if modulus is not None:
            weights = np.round(weights).astype(np.int64) % modulus
        managed = evaluator.managed()
        return [managed.apply("mul_plain", row, weights) for row in inputs]


class TinyLayers(TinyPlain):
    """The same in two layers, of which the second adds every product to itself and takes it away."""

    name = "tiny-layers"

    def operations(self, scheme):
        return ("mul_plain", "add", "sub")

    def circuit(self, stage, evaluator, inputs, state, public):
        return self.layers(stage, evaluator, inputs, state, public)["sums"]

    def layers(self, stage, evaluator, inputs, state, public):
        products = super().circuit(stage, evaluator, inputs, state, public)
        doubled = [evaluator.apply("add", product, product) for product in products]
        pairs = zip(doubled, products, strict=True)
        return {"products": products, "sums": [evaluator.apply("sub", *pair) for pair in pairs]}


WORKLOADS = {item.name: item for item in (Tiny(), TinyPlain(), TinyLayers())}


def no_data(name):
    """The rows are made of the seed, whatever the data set is called."""
