"""The registry of experiments: the facts needed to read their records.

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
    """One experiment. ``determines`` is the metric whose value a trial determines, if there is one.

    ``is_until_exhausted``: trials continue until no noise budget is left, so samples of a trial that ends
    ``budget_exhausted`` count.
    """

    name: str
    determines: str | None = None
    is_until_exhausted: bool = False


_registered: dict[str, Experiment] = {}
EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType(_registered)


def register(experiment: Experiment) -> Experiment:
    """Register an experiment, and return it. Raises ``ValueError`` where its name already has another meaning."""
    return registry.add(_registered, experiment)
