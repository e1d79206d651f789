"""The figures of a pass, which every family of workloads shows on its page."""

from __future__ import annotations

from dataclasses import replace

from ciphermark_present.catalogue.profile import PROFILE
from ciphermark_present.catalogue.thread_counts import THREAD_COUNTS
from ciphermark_present.catalogue.whole_cost import WHOLE_COST
from ciphermark_present.figure import Figure
from ciphermark_present.subject import Subject


def of_family(name: str, about: Subject) -> tuple[Figure, ...]:
    """The figures of a family, named after it."""
    return tuple(
        replace(figure, name=f"{name}-{figure.name}", subject=about)
        for figure in (WHOLE_COST, PROFILE, THREAD_COUNTS)
    )
