"""The pages, with their figures and filters: those defined here, and those that families declare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ciphermark_present import catalogue, page, subject
from ciphermark_present.catalogue import (
    case,
    comparing,
    costs,
    distribution,
    hexl,
    memory,
    noise,
    passes,
    probes,
    programs,
    published,
    repetitions,
    scaling,
    thread_counts,
    times,
    workloads,
)
from ciphermark_present.figure import Figure
from ciphermark_present.page import Page
from ciphermark_present.query import Row
from ciphermark_present.subject import Subject

_PLACE = (page.SCHEME, page.TABLE, page.SECURITY, page.RING_DIMENSION, page.OPERATION)
_COMMON = (*_PLACE, page.VARIANT)
_AT_LEVEL = "in {scheme} at {security} by the {table}?"

RANKING_PAGE = Page(
    "/ranking",
    "Ranking",
    "The fastest library over all operations, at one security level.",
    _COMMON,
    (times.LEADERBOARD, times.MATRIX),
    question="Which library is fastest over all operations " + _AT_LEVEL,
    place=5,
)
OPERATIONS_PAGE = Page(
    "/operations",
    "Operations",
    "The time of each operation.",
    (*_COMMON, page.PHASE, *page.VECTOR),
    (times.LATENCY, scaling.SCALING, times.LATENCY_BY_SIZE, times.BY_DATA, thread_counts.THREAD_COUNTS),
    question="How long does it take to {operation} " + _AT_LEVEL,
    place=10,
)
COST_PAGE = Page(
    "/cost",
    "Cost",
    "The time of each operation at each level of the modulus chain.",
    (
        *(page.SCHEME, page.TABLE, page.SECURITY, page.ONE_RING_DIMENSION, page.OPERATION, page.VARIANT),
        *(page.SIZE, page.DATA, page.THREADS, page.RESIDENCY),
        *(item for item in page.OTHERS if item.name != page.RESIDENCY.name),
    ),
    (costs.COSTS, thread_counts.AT_LEVELS, published.OPERATIONS),
    question="How long does it take to {operation} at each level, with {threads}, in {scheme} at N = {n} and "
    "{security} by the {table}?",
    suite="primitives",
    place=15,
)
HEXL_PAGE = Page(
    "/hexl",
    "HEXL",
    ("Speedup from Intel HEXL: one library built with and without it, sampled alternately."),
    (*_PLACE, page.PHASE, *page.VECTOR),
    (times.SPEEDUP, hexl.HEXL),
    question="How much does HEXL help to {operation} " + _AT_LEVEL,
    place=20,
)
NOISE_PAGE = Page(
    "/noise",
    "Noise and depth",
    "How far a computation can go before decryption fails.",
    (*_COMMON, *page.VECTOR),
    (noise.DEPTH, noise.NOISE, noise.REMAINING_BITS, repetitions.REPETITIONS),
    question="How many times in a row can you {operation} " + _AT_LEVEL,
    place=30,
)
MEMORY_PAGE = Page(
    "/memory",
    "Memory and sizes",
    "Memory use and serialized sizes of a computation.",
    (*_COMMON, page.PHASE, *page.VECTOR),
    (memory.MEMORY, memory.SIZES),
    question="How much memory does it take to {operation} " + _AT_LEVEL,
    place=40,
)
WORKLOADS_PAGE = Page(
    "/workloads",
    "Workloads",
    "Stages and metrics of workloads without a page of their own.",
    (page.FAMILY, page.TABLE, page.WORKLOAD, page.VARIANT, page.BANDWIDTH),
    (workloads.WORKLOADS, *passes.of_family("workload", workloads.FAMILY)),
    question="What does it cost to {operation}, of the family {family}, with levels by the {table}?",
    suite="micro",
    place=90,
)
PROGRAMS_PAGE = Page(
    "/programs",
    "Programs",
    ("The operations that workloads executed, and whether variants executed the same ones."),
    (page.FAMILY, page.WORKLOAD, page.VARIANT),
    (programs.COUNTS, programs.PROGRAMS),
    question="Which operations does it take to {operation}, of the family {family}?",
    suite="tenseal-ml",
    place=95,
)
CASE_PAGE = Page(
    "/case",
    "Case",
    "One case with every variant.",
    (page.TIMES,),
    (case.CASE_RESULTS, distribution.CASE_DISTRIBUTION, case.CASE_SAMPLES, case.CASE_OUTCOMES),
    parameters=("case",),
)

COMPARE_PAGE = Page(
    "/compare",
    "Compare",
    "Changes between two runs of a suite.",
    (page.LEVELS, page.THRESHOLD, page.TIMES),
    (comparing.TWO_RUNS,),
    run_parameter="b",
    parameters=("a",),
)

_OF_OPERATIONS = (
    RANKING_PAGE,
    OPERATIONS_PAGE,
    COST_PAGE,
    HEXL_PAGE,
    NOISE_PAGE,
    MEMORY_PAGE,
    WORKLOADS_PAGE,
    PROGRAMS_PAGE,
)
PAGES: tuple[Page, ...] = tuple(
    replace(
        each,
        filters=(*each.filters, page.TIMES),
        figures=(*each.figures, *catalogue.of_page(each.path)),
    )
    for each in sorted((*_OF_OPERATIONS, *catalogue.pages()), key=lambda each: each.place)
)
ALL_PAGES = (*PAGES, CASE_PAGE, COMPARE_PAGE)
FIGURE_PAGES: dict[str, Page] = {figure.name: each for each in ALL_PAGES for figure in each.figures}
FIGURES: dict[str, Figure] = {figure.name: figure for each in ALL_PAGES for figure in each.figures}

OVERVIEW_PATH = "/"
RUNS_PATH = "/runs"
ADVISE_PATH = "/advise"
ACCELERATORS_PATH = "/accelerators"


@dataclass(frozen=True, slots=True)
class Section:
    """An entry of the navigation: its pages are tabs, given as paths with titles."""

    title: str
    tabs: tuple[tuple[str, str], ...]
    is_about_runs: bool = False


def _section(title: str, *paths: str) -> Section:
    titles = {each.path: each.title for each in PAGES} | {WORKLOADS_PAGE.path: "Other"}
    return Section(title, tuple((path, titles[path]) for path in paths))


_NAMED = (*_OF_OPERATIONS, probes.PAGE)
_FAMILIES = [each.path for each in PAGES if each.path not in {named.path for named in _NAMED}]
SECTIONS: tuple[Section, ...] = (
    Section("Overview", ((OVERVIEW_PATH, "Overview"),)),
    _section("Operations", OPERATIONS_PAGE.path, COST_PAGE.path, RANKING_PAGE.path),
    _section("Workloads", *_FAMILIES, WORKLOADS_PAGE.path, PROGRAMS_PAGE.path),
    _section("Limits", NOISE_PAGE.path, MEMORY_PAGE.path, probes.PAGE.path),
    _section("Builds", HEXL_PAGE.path),
    Section("Advise", ((ADVISE_PATH, "Advise"), (ACCELERATORS_PATH, "Accelerators"))),
    Section("Runs", ((RUNS_PATH, "Runs"),), is_about_runs=True),
    Section("Compare", ((COMPARE_PAGE.path, COMPARE_PAGE.title),), is_about_runs=True),
)


def measured(rows: Iterable[Row]) -> Iterator[Page]:
    """The pages with results of a run: for every subject that it measured, the first page about that subject.

    ``rows`` are those of the block ``choices``.
    """
    experiments = {row["experiment"] for row in rows}
    subjects: set[Subject] = set()
    for each in PAGES:
        new = {figure.subject for figure in each.figures if figure.subject is not None}
        new -= subjects | {subject.ANYTHING}  # which says nothing of what a run measured
        if any(about.covers(name) for about in new for name in experiments):
            yield each
            subjects |= new
