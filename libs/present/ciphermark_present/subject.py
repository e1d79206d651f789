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


def all_but(*subjects: Subject) -> Subject:
    """The rest; of subjects that are the rest of others, what these are the rest of is left out, too."""
    return Subject(tuple(dict.fromkeys(name for each in subjects for name in each.experiments)), is_rest=True)


# Whatever nobody here has heard of is a family of workloads.
WORKLOAD = all_but(OPERATION, NOISE, DEPTH, OBJECT, KEY, REPETITION)
