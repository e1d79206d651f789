"""Fits the model of :mod:`..chebyshev_model` to MNIST by ridge regression, and stores it in this folder.

``python -m ciphermark_workloads.inference.networks.train_chebyshev DATA.csv.gz``. :mod:`.train` states the data and
their split. The fit is linear algebra: it draws no random number.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from ciphermark_circuits import pixel_polynomials
from ciphermark_circuits.layout import Floats
from ciphermark_circuits.pixel_polynomials import CLASSES, DEGREE, PIXELS, Model
from ciphermark_workloads.inference import chebyshev_model
from ciphermark_workloads.inference.networks import train
from ciphermark_workloads.inference.networks.train import Images

_PENALTY = 3000.0
_LARGEST = 127  # of 8 bits


def fitted(images: Images) -> Model:
    """The model with the least squared error of ±1 for each class, plus a penalty on squared weights.

    Pixels that are constant get no weights.
    """
    x = chebyshev_model.padded(images.pixels).reshape(len(images.labels), PIXELS)
    features = pixel_polynomials.features(2 * x - 1)
    weights, bias = np.zeros((CLASSES, DEGREE, PIXELS)), np.zeros(CLASSES)
    for number in range(CLASSES):
        chosen = pixel_polynomials.reaches(number) & (np.ptp(x, axis=0) > 0)
        seen = features[:, :, chosen].reshape(len(x), -1)
        mean, wanted = seen.mean(axis=0), np.where(images.labels == number, 1.0, -1.0)
        centred = seen - mean
        gram = centred @ centred.T + _PENALTY * np.eye(len(x))
        fit = centred.T @ np.linalg.solve(gram, wanted - wanted.mean())
        weights[number][:, chosen] = fit.reshape(DEGREE, -1)
        bias[number] = wanted.mean() - mean @ fit
    return Model(pixel_polynomials.by_shift(weights), bias)


def write(path: Path, model: Model) -> None:
    """Store a model in whole numbers of 8 bits, with a power of two for each degree."""
    exponents = [_power(weights) for weights in model.weights]
    whole = [
        np.rint(np.ldexp(weights, power)).astype(np.int8)
        for weights, power in zip(model.weights, exponents, strict=True)
    ]
    np.savez_compressed(path, weights=whole, exponents=exponents, bias=model.bias, allow_pickle=False)


def _power(weights: Floats) -> int:
    """The largest whose multiples of all weights have 8 bits."""
    return int(np.floor(np.log2(_LARGEST / np.abs(weights).max())))


def main() -> None:
    """Fit the model, store it, and print how many held-out images the stored one classifies correctly."""
    train_on, held_out = train.read(Path(sys.argv[1]), train.RECIPES["lola-mnist"]).split()
    write(chebyshev_model.STORED, fitted(train_on))
    logits = chebyshev_model.shipped().logits(2 * chebyshev_model.padded(held_out.pixels) - 1)
    print(np.count_nonzero(logits.argmax(axis=1) == held_out.labels), "of", len(held_out.labels))


if __name__ == "__main__":
    main()
