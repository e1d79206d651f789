"""What experiments measure: figures and pages are about subjects, and experiments are named here alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Subject:
    """The ``experiments`` that measure one kind of thing; with ``is_rest`` all but those.

    ``has_operations`` says whether a case's operation is one to choose by.
    """

    experiments: tuple[str, ...]
    is_rest: bool = False
    has_operations: bool = True

    def covers(self, experiment: str) -> bool:
        """Whether an experiment is of this subject."""
        return (experiment in self.experiments) != self.is_rest

    @property
    def condition(self) -> str:
        """In SQL, with :attr:`parameters`."""
        return "experiment <> all (%(experiments)s)" if self.is_rest else "experiment = any (%(experiments)s)"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What :attr:`condition` names."""
        return {"experiments": list(self.experiments)}


OPERATION = Subject(("arithmetic", "rotation"))
NOISE = Subject(("noise",))
DEPTH = Subject(("depth",))
OBJECT = Subject(("serialization",), has_operations=False)
KEY = Subject(("key_generation",))
REPETITION = Subject(("repetition",))
LEARNING = Subject(("learning",))
_PRIMITIVES = (OPERATION, NOISE, DEPTH, OBJECT, KEY, REPETITION)


def _all_but(*subjects: Subject) -> Subject:
    return Subject(tuple(name for each in subjects for name in each.experiments), is_rest=True)


# Whatever nobody here has heard of is a family of workloads. FAMILY: those whose stages have no figures of their own.
WORKLOAD = _all_but(*_PRIMITIVES)
FAMILY = _all_but(*_PRIMITIVES, LEARNING)
