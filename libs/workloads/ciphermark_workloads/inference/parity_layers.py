"""The layers of a network of two convolutions over ciphertexts, as :class:`.parities.Parities` lays them out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ciphermark_circuits import diagonals, horner, sums
from ciphermark_circuits.layout import powers
from ciphermark_contract.interfaces import Evaluator, Handle, KeyRequest, Vector
from ciphermark_workloads.inference.parities import DENSE_BABIES, DIAGONALS, Parities
from ciphermark_workloads.inference.two_convolutions import Network

_CHAINS = 2  # of rotations that follow on each other: work for two threads


@dataclass(frozen=True, slots=True)
class Weights:
    """What is multiplied and added: see :class:`.parities.Parities`."""

    first: Sequence[Sequence[Sequence[Vector]]]
    first_bias: Sequence[Vector]
    second: Sequence[Sequence[Vector]]
    second_bias: Vector
    dense: Sequence[Sequence[Vector]]
    dense_bias: Vector

    @classmethod
    def of(cls, network: Network, layout: Parities, slots: int) -> Weights:
        """Of a network, for ciphertexts of so many slots."""
        return cls(
            layout.first(network.first, slots),
            layout.first_bias(network.first, slots),
            layout.second(network.second, slots),
            layout.second_bias(network.second, slots),
            diagonals.columns(layout.dense(network.dense, slots), DENSE_BABIES),
            layout.dense_bias(network.dense, slots),
        )


def keys(layout: Parities) -> KeyRequest:
    """Those that :func:`each` takes."""
    rotations = (
        *(baby * layout.whole for baby in range(1, layout.babies)),
        *horner.steps(layout.maps // layout.babies, layout.babies * layout.whole),
        *(_forward(layout, shift * layout.row) for shift in layout.shifts if shift),
        *(_forward(layout, shift) for shift in layout.shifts if shift),
        *horner.steps(layout.channels, layout.block, _CHAINS),
        *diagonals.steps(DIAGONALS, DENSE_BABIES),
        *powers(DIAGONALS, layout.span),
    )
    return KeyRequest.of(relinearization=True, rotations=rotations)


def each(
    evaluator: Evaluator, image: Sequence[Handle], layout: Parities, weights: Weights
) -> dict[str, list[Handle]]:
    """What each layer makes of an image, the last its logits: five levels, a rescaling each."""
    square = evaluator.managed().function("square")
    maps = _first(evaluator, image, layout, weights)
    squared_maps = [square(item) for item in maps]
    hidden = _second(evaluator, squared_maps, layout, weights)
    squared_hidden = square(hidden)
    return {
        "first convolution": maps,
        "first square": squared_maps,
        "second convolution": [hidden],
        "second square": [squared_hidden],
        "dense": [_dense(evaluator, squared_hidden, layout, weights)],
    }


def _first(evaluator: Evaluator, image: Sequence[Handle], layout: Parities, weights: Weights) -> list[Handle]:
    """A matrix of blocks: inputs are turned by maps in baby steps, sums of products in giant steps."""
    taps = [
        evaluator.apply("rotate", item, baby * layout.whole) if baby else item
        for item in image
        for baby in range(layout.babies)
    ]
    step = layout.babies * layout.whole
    products = (diagonals.with_vectors(evaluator, taps, columns) for columns in weights.first)
    return [
        _finished(evaluator, horner.turned_total(evaluator, items, step), bias)
        for items, bias in zip(products, weights.first_bias, strict=True)
    ]


def _second(evaluator: Evaluator, maps: Sequence[Handle], layout: Parities, weights: Weights) -> Handle:
    """Maps are shifted as taps are, sums of products turned from channel to channel."""
    shifted = [item for given in maps for item in _shifted(evaluator, given, layout)]
    products = diagonals.with_vectors(evaluator, shifted, weights.second)
    total = horner.turned_total(evaluator, products, layout.block, _CHAINS)
    return _finished(evaluator, total, weights.second_bias)


def _dense(evaluator: Evaluator, hidden: Handle, layout: Parities, weights: Weights) -> Handle:
    products = diagonals.product(evaluator, hidden, weights.dense, diagonals.with_vectors)
    total = sums.turned_sum(evaluator, evaluator.apply("rescale", products), powers(DIAGONALS, layout.span))
    return evaluator.managed().apply("add_plain", total, weights.dense_bias)


def _shifted(evaluator: Evaluator, given: Handle, layout: Parities) -> list[Handle]:
    """By rows, then each of these by columns: as many rotations as one by one, and fewer keys."""
    by_rows = [_moved(evaluator, given, layout, shift * layout.row) for shift in layout.shifts]
    return [_moved(evaluator, item, layout, shift) for item in by_rows for shift in layout.shifts]


def _moved(evaluator: Evaluator, given: Handle, layout: Parities, shift: int) -> Handle:
    return evaluator.apply("rotate", given, _forward(layout, shift)) if shift else given


def _forward(layout: Parities, shift: int) -> int:
    """The rotation to the left that is a shift by as many slots, back or forth: the pattern repeats."""
    return shift % layout.span


def _finished(evaluator: Evaluator, products: Handle, bias: Vector) -> Handle:
    return evaluator.managed().apply("add_plain", evaluator.apply("rescale", products), bias)
