"""The network and the images of a case: those that are shipped, or a user's own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated

import msgspec
import numpy as np

from ciphermark_circuits.layout import Floats
from ciphermark_core.errors import UserError
from ciphermark_workloads import own_files
from ciphermark_workloads.inference.network import Layer, Network
from ciphermark_workloads.inference.networks import own, stored
from ciphermark_workloads.inference.networks.own import Labels


class Options(msgspec.Struct, frozen=True):
    """Of all networks on images. Logits are told as the network has them, whatever ``halvings``."""

    network: Annotated[
        str,
        msgspec.Meta(
            description="a network of your own in place of the one that is shipped: mine.npz, mine.onnx",
            extra={"is_newer": True, "is_file": True},
        ),
    ] = ""
    images: Annotated[
        str,
        msgspec.Meta(
            description="images of your own in place of those that are shipped: mine.npz, mine.csv",
            extra={"is_newer": True, "is_file": True},
        ),
    ] = ""
    largest_pixel: Annotated[
        int,
        msgspec.Meta(
            ge=1, le=65535, description="the pixel of your images that stands for 1", extra={"is_newer": True}
        ),
    ] = 1
    halvings: Annotated[
        int,
        msgspec.Meta(
            ge=0,
            le=40,
            description="how often the last layer is halved, so that the first prime holds its logits",
            extra={"is_newer": True},
        ),
    ] = 0


@dataclass(frozen=True, slots=True)
class Images:
    """Images (count, side, side) with pixels from 0 to 1, and their classes (count,), where they are known."""

    pixels: Floats
    labels: Labels | None

    def label(self, number: int) -> int | None:
        """The class of an image."""
        return None if self.labels is None else int(self.labels[number])


def network(shipped: str, options: Options) -> Network:
    """What the server has; raises ``UserError`` where a user's own is not in this process's folder."""
    return _own(options.network) if options.network else stored.shipped(shipped).network


def halved(of: Network, halvings: int) -> Network:
    """Another network, whose logits are those of the first divided by a power of two."""
    last = Layer(np.ldexp(of.last.weights, -halvings), np.ldexp(of.last.bias, -halvings))
    return replace(of, last=last)


def images(shipped: str, options: Options) -> Images:
    """What the client has, of the size that the network takes; raises ``UserError`` for others, and where a user's own
    are not in this process's folder.
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


@lru_cache(maxsize=4)
def _own(name: str) -> Network:
    return own.network(name, own_files.content(name))


@lru_cache(maxsize=4)
def _own_images(name: str, side: int, largest_pixel: int) -> Images:
    return Images(*own.images(name, own_files.content(name), side, largest_pixel))
