"""The subjects of figures and pages: what experiments measure. Only this module names experiments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Subject:
    """The ``experiments`` that measure one kind of subject; with ``is_rest``, all but those.

    ``has_operations``: readers can choose by a case's operation.
    """

    experiments: tuple[str, ...]
    is_rest: bool = False
    has_operations: bool = True

    def covers(self, experiment: str) -> bool:
        """Whether an experiment is of this subject."""
        return (experiment in self.experiments) != self.is_rest

    @property
    def condition(self) -> str:
        """The condition in SQL, with :attr:`parameters`."""
        return "experiment <> all (%(experiments)s)" if self.is_rest else "experiment = any (%(experiments)s)"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters of :attr:`condition`."""
        return {"experiments": list(self.experiments)}


OPERATION = Subject(("arithmetic", "rotation"))
NOISE = Subject(("noise",))
DEPTH = Subject(("depth",))
OBJECT = Subject(("serialization",), has_operations=False)
KEY = Subject(("key_generation",))
REPETITION = Subject(("repetition",))
BOOTSTRAPPING = Subject(("bootstrapping",), has_operations=False)


def all_but(*subjects: Subject) -> Subject:
    """All experiments but those of the subjects; from a subject with ``is_rest``, the experiments that it names are
    excluded, too.
    """
    return Subject(tuple(dict.fromkeys(name for each in subjects for name in each.experiments)), is_rest=True)


# An experiment that this module does not name is a family of workloads.
WORKLOAD = all_but(OPERATION, NOISE, DEPTH, OBJECT, KEY, REPETITION, BOOTSTRAPPING)
# Every experiment, for figures about what any of them may have.
ANYTHING = Subject((), is_rest=True)
