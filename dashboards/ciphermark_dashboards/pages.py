"""The pages: which figures each shows, and which filters it has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ciphermark_dashboards import filters
from ciphermark_dashboards.filters import Filter
from ciphermark_present import catalogue
from ciphermark_present.catalogue import (
    case,
    comparing,
    inference,
    layers,
    learning,
    memory,
    noise,
    programs,
    published,
    repetitions,
    retrieval,
    times,
    workloads,
)
from ciphermark_present.figure import Figure
from ciphermark_present.query import Row
from ciphermark_present.subject import Subject


@dataclass(frozen=True, slots=True)
class Page:
    """A page of figures about one run; its filters offer what cases of the figures' subjects have.

    ``run_parameter`` names the run in addresses, ``parameters`` are what else they have beside the filters.
    """

    path: str
    title: str
    lead: str
    filters: tuple[Filter, ...]
    figures: tuple[Figure, ...]
    run_parameter: str = "run"
    parameters: tuple[str, ...] = ()

    def choices(self, rows: Iterable[Row]) -> list[Row]:
        """Of the rows of the block ``choices`` those that are about what the page shows."""
        subjects = list(dict.fromkeys(figure.subject for figure in self.figures if figure.subject))
        return [
            row if of_case.has_operations else {**row, "operation": None}
            for row in rows
            for of_case in subjects
            if of_case.covers(row["experiment"])
        ]


_COMMON = (filters.SCHEME, filters.SECURITY, filters.RING_DIMENSION, filters.OPERATION, filters.VARIANT)

OVERVIEW_PAGE = Page(
    "/",
    "Overview",
    "Which library for which computation, at one security level.",
    _COMMON,
    (times.LEADERBOARD, times.MATRIX),
)
OPERATIONS_PAGE = Page(
    "/operations",
    "Operations",
    "What each operation costs.",
    (*_COMMON, filters.PHASE, filters.SIZE, filters.DATA, filters.THREADS),
    (times.LATENCY, times.LATENCY_BY_SIZE, times.BY_DATA),
)
HEXL_PAGE = Page(
    "/hexl",
    "HEXL",
    "What Intel HEXL brings: the same library, built with and without it, in turns.",
    (
        filters.SCHEME,
        filters.SECURITY,
        filters.RING_DIMENSION,
        filters.OPERATION,
        filters.PHASE,
        filters.SIZE,
        filters.DATA,
        filters.THREADS,
    ),
    (times.SPEEDUP,),
)
NOISE_PAGE = Page(
    "/noise",
    "Noise and depth",
    "How far a computation can go before decryption fails.",
    (*_COMMON, filters.SIZE, filters.DATA, filters.THREADS),
    (noise.BITS_LEFT, noise.NOISE, noise.DEPTH, repetitions.REPETITIONS),
)
MEMORY_PAGE = Page(
    "/memory",
    "Memory and bytes",
    "What a computation takes in memory and on the wire.",
    (*_COMMON, filters.PHASE, filters.SIZE, filters.DATA, filters.THREADS),
    (memory.MEMORY, memory.SIZES),
)
LEARNING_PAGE = Page(
    "/learning",
    "Machine learning",
    "Workloads on encrypted data: a client that holds the key, a server that sees ciphertexts alone.",
    (filters.DATA_SET, filters.WORKLOAD, filters.VARIANT),
    (learning.LEARNING, learning.STAGES, published.PUBLISHED),
)
RETRIEVAL_PAGE = Page(
    "/retrieval",
    "Retrieval",
    "Elements of a database by an index or a keyword that the server does not learn.",
    (filters.WORKLOAD, filters.VARIANT),
    (retrieval.RETRIEVALS, retrieval.MOVED, retrieval.AT_ONCE, retrieval.SCALING, layers.ANSWER_LAYERS),
)
INFERENCE_PAGE = Page(
    "/inference",
    "Inference",
    "Classes of encrypted images by a network whose weights the server has, in the clear or encrypted.",
    (filters.WORKLOAD, filters.VARIANT),
    (inference.INFERENCES, inference.PARTS, layers.LAYERS, inference.PUBLISHED_INFERENCES),
)
WORKLOADS_PAGE = Page(
    "/workloads",
    "Workloads",
    "Workloads of every other family, by what each of their stages took and what they measure of their own.",
    (filters.FAMILY, filters.WORKLOAD, filters.VARIANT),
    (workloads.WORKLOADS,),
)
PROGRAMS_PAGE = Page(
    "/programs",
    "Programs",
    "Which operations the workloads of a run came to, and whether variants executed the same ones.",
    (filters.FAMILY, filters.WORKLOAD, filters.VARIANT),
    (programs.COUNTS, programs.PROGRAMS),
)
CASE_PAGE = Page(
    "/case",
    "Case",
    "One case, every variant.",
    (),
    (case.CASE_OUTCOMES, case.CASE_FIGURES, case.CASE_SAMPLES),
    parameters=("case",),
)

COMPARE_PAGE = Page(
    "/compare",
    "Compare",
    "Two runs, or the latest runs of two hosts: what changed, what did not, and what cannot be compared.",
    (filters.LEVELS, filters.SHOW),
    (comparing.TWO_RUNS,),
    run_parameter="b",
    parameters=("a",),
)

_NAMED = (
    OVERVIEW_PAGE,
    OPERATIONS_PAGE,
    HEXL_PAGE,
    NOISE_PAGE,
    MEMORY_PAGE,
    LEARNING_PAGE,
    RETRIEVAL_PAGE,
    INFERENCE_PAGE,
    WORKLOADS_PAGE,
    PROGRAMS_PAGE,
)
PAGES: tuple[Page, ...] = tuple(
    replace(page, figures=(*page.figures, *catalogue.of_page(page.path))) for page in _NAMED
)
ALL_PAGES = (*PAGES, CASE_PAGE, COMPARE_PAGE)
FIGURE_PAGES: dict[str, Page] = {figure.name: page for page in ALL_PAGES for figure in page.figures}
FIGURES: dict[str, Figure] = {figure.name: figure for page in ALL_PAGES for figure in page.figures}


def measured(rows: Iterable[Row]) -> Iterator[Page]:
    """Where a run has something: of every subject that it measured the first page that is about it.

    ``rows`` are those of the block ``choices``.
    """
    experiments = {row["experiment"] for row in rows}
    known: set[Subject] = set()
    for page in PAGES:
        new = {figure.subject for figure in page.figures if figure.subject is not None} - known
        if any(subject.covers(name) for subject in new for name in experiments):
            yield page
            known |= new
