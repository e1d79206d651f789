"""The network and the images of a case: the packaged ones, or a user's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from typing import Annotated

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Meta

from ciphermark_circuits.layout import Floats
from ciphermark_core.errors import UserError
from ciphermark_workloads import user_workloads
from ciphermark_workloads.inference.network import Layer, Network
from ciphermark_workloads.inference.networks import stored, user_networks
from ciphermark_workloads.inference.networks.user_networks import Labels
from ciphermark_workloads.options import FILE, NEWER


class Options(msgspec.Struct, frozen=True):
    """Options of all networks on images. Logits are reported at the network's scale, regardless of ``halvings``."""

    network: Annotated[
        str,
        Meta(
            description="a network of your own in place of the one that is shipped: mine.npz, mine.onnx",
            extra=FILE,
        ),
    ] = ""
    images: Annotated[
        str,
        Meta(
            description="images of your own in place of those that are shipped: mine.npz, mine.csv",
            extra=FILE,
        ),
    ] = ""
    largest_pixel: Annotated[
        int, Meta(ge=1, le=65535, description="the pixel of your images that stands for 1", extra=NEWER)
    ] = 1
    halvings: Annotated[
        int,
        Meta(
            ge=0,
            le=64,
            description="number of halvings of the last layer, so that its logits fit into the first prime",
            extra=NEWER,
        ),
    ] = 0


@dataclass(frozen=True, slots=True)
class Image:
    """One image (side, side) with pixels from 0 to 1, and its class, where it is known."""

    pixels: Floats
    label: int | None


@dataclass(frozen=True, slots=True)
class Images:
    """Images (count, side, side) with pixels from 0 to 1, and their classes (count,), where they are known."""

    pixels: Floats
    labels: Labels | None

    def __len__(self) -> int:
        return len(self.pixels)

    def chosen(self, numbers: npt.NDArray[np.int64]) -> Images:
        """Some of them, in this order."""
        return Images(self.pixels[numbers], None if self.labels is None else self.labels[numbers])

    def image(self, number: int) -> Image:
        """One of them."""
        label = None if self.labels is None else int(self.labels[number])
        return Image(self.pixels[number], label)


def network(shipped: str, options: Options) -> Network:
    """The server's network; raises ``UserError`` where a user's own is not in this process's folder."""
    return _own(options.network) if options.network else stored.shipped(shipped).network


def halved(of: Network, halvings: int) -> Network:
    """Another network, whose logits are those of the first divided by 2^``halvings``."""
    last = Layer(np.ldexp(of.last.weights, -halvings), np.ldexp(of.last.bias, -halvings))
    return replace(of, last=last)


def images(shipped: str, options: Options) -> Images:
    """The client's images, of the network's size; raises ``UserError`` for others, and where a user's own are not in
    this process's folder.
    """
    side = network(shipped, options).shape.side
    if options.images:
        return _own_images(options.images, side, options.largest_pixel)
    held = stored.shipped(shipped)
    if side != held.network.shape.side:
        raise UserError(
            f"the network takes images of {side} × {side} pixels, and those that are shipped have "
            f"{held.network.shape.side} × {held.network.shape.side}: give some (images)"
        )
    return Images(held.images, held.labels)


def image(values: Sequence[float], *shape: int) -> Image:
    """An image of a shape, its pixels row by row, from 0 to 1; raises ``UserError`` for another size and for other
    numbers.
    """
    pixels = np.asarray(values, dtype=np.float64)
    if pixels.size != prod(shape):
        raise UserError(
            f"the network takes an image of {' × '.join(map(str, shape))} pixels, {prod(shape)} numbers row by row, "
            f"and not {pixels.size}"
        )
    if not np.all((pixels >= 0) & (pixels <= 1)):
        raise UserError("pixels are numbers from 0 to 1")
    return Image(pixels.reshape(shape), None)


@lru_cache(maxsize=4)
def _own(name: str) -> Network:
    return user_networks.network(name, user_workloads.file_content(name))


@lru_cache(maxsize=4)
def _own_images(name: str, side: int, largest_pixel: int) -> Images:
    return Images(*user_networks.images(name, user_workloads.file_content(name), side, largest_pixel))
