"""The registry of experiments: what has to be known of one to read what it recorded.

Experiments register with their own rows (``ciphermark_measure.experiments``); the database's table ``experiment`` is
filled from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ciphermark_core import registry


@dataclass(frozen=True, slots=True)
class Experiment:
    """One experiment. ``determines`` is the metric whose value a trial is there to find, if there is one such.
    ``is_until_exhausted``: trials go on until nothing is left, so their samples count where they end
    ``budget_exhausted``, too.
    """

    name: str
    determines: str | None = None
    is_until_exhausted: bool = False


_registered: dict[str, Experiment] = {}
EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType(_registered)


def register(experiment: Experiment) -> Experiment:
    """Make an experiment known, and return it. Raises ``ValueError`` where its name has another meaning already."""
    return registry.add(_registered, experiment)
