"""A time as a tree: its parts, their parts, and what no part explains. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

REST = "not attributed"
_LEAST_REST = 1e-3  # of the whole: less is rounding


@dataclass(frozen=True, slots=True)
class Node:
    """A measured time and its parts, in order."""

    name: str
    seconds: float
    parts: tuple[Node, ...] = ()

    @property
    def extent_s(self) -> float:
        """The time with room for all parts: medians of parts may add up to more than the median of the whole."""
        return max(self.seconds, sum(part.extent_s for part in self.parts))


@dataclass(frozen=True, slots=True)
class Span:
    """The position of a node: its path from the root, which it excludes, and where it starts and ends.

    ``is_rest``: it is the time of its parent that no part explains.
    """

    path: tuple[str, ...]
    start_s: float
    end_s: float
    is_rest: bool = False


def spans(root: Node) -> Iterator[Span]:
    """The spans of all nodes below a root: parents before their parts, parts one after the other from their parent's
    start. The rest of a parent follows its last part.
    """
    yield from _spans(root, (), 0.0)


def _spans(node: Node, path: tuple[str, ...], start_s: float) -> Iterator[Span]:
    at_s = start_s
    for part in node.parts:
        own = (*path, part.name)
        yield Span(own, at_s, at_s + part.extent_s)
        yield from _spans(part, own, at_s)
        at_s += part.extent_s
    end_s = start_s + node.extent_s
    if path and node.parts and end_s - at_s > _LEAST_REST * node.extent_s:
        yield Span((*path, REST), at_s, end_s, is_rest=True)
