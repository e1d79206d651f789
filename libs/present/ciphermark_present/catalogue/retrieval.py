"""Figures of the family retrieval: what a query costs, moves and brings."""

from __future__ import annotations

from collections.abc import Callable

from ciphermark_present import formats, subject
from ciphermark_present.catalogue.columns import OPTIONS, SCHEME, SECURITY_2018, THREADS, VARIANT, WORKLOAD, N
from ciphermark_present.figure import Column, Figure
from ciphermark_present.sentences import retrieval


def _seconds(name: str, label: str, short: str = "") -> Column:
    return Column(name, label, formats.seconds, is_number=True, short=short, brief=formats.brief_seconds)


def _bytes(name: str, label: str) -> Column:
    return Column(name, label, formats.size, is_number=True, brief=formats.brief_size)


def _percentage(value: float | None) -> str:
    """Of shares that may be far below a thousandth."""
    return formats.NOTHING if value is None else f"{formats.digits(100 * value)} %"


def _speed(name: str, label: str) -> Column:
    def written(size: Callable[[float | None], str]) -> Callable[[float | None], str]:
        return lambda value: formats.NOTHING if value is None else f"{size(value)}/s"

    return Column(name, label, written(formats.size), is_number=True, brief=written(formats.brief_size))


COSTS = (
    _seconds("answer_s", "Answer"),
    _speed("throughput", "Throughput"),
    _seconds("element_s", "Answer, an element", "an element"),
    _bytes("upload", "Upload"),
    _bytes("download", "Download"),
    _bytes("keys_size", "Keys"),
)
STORES = (
    _bytes("store_size", "Store"),
    Column("store_expansion", "By the database", formats.digits, is_number=True, short="by the database"),
    _speed("memory_bandwidth", "Bandwidth"),
    Column("bandwidth_share", "Of bandwidth", formats.share, is_number=True, short="of bandwidth"),
    Column("rate", "Rate", _percentage, is_number=True),
    Column("noise_budget_bits", "Noise budget left, bits", formats.bits, is_number=True, short="bits left"),
)
LINKS = (
    _seconds("over_10_s", "At 10 Mbit/s", "10 Mbit/s"),
    _seconds("over_100_s", "At 100 Mbit/s", "100 Mbit/s"),
    _seconds("over_1000_s", "At 1000 Mbit/s", "1000 Mbit/s"),
)
_ASKED = (
    WORKLOAD,
    _bytes("database_size", "Database"),
    Column("answers", "Elements got", formats.digits, is_number=True),
    _bytes("answered_size", "Of together"),
    OPTIONS,
    SCHEME,
    THREADS,
    VARIANT,
    N,
    SECURITY_2018,
)
_ORDER = "operation, answered_size, scheme, threads, inputs, database_size, answer_s, variant"
RETRIEVALS = Figure(
    name="retrievals",
    title="Answers against the database",
    lead=(
        "Median time of the server's answer by the size of the database, elements times their length; both axes are "
        "logarithmic. Throughput is bytes of the database by this time, for each query of a pass. Preparing the "
        "database, once, is in none of it. Of bandwidth: what reading the store once takes at the rate of this host's "
        "memory, of the answer's time; a store that a cache holds is read at the cache's. Published throughputs are of "
        "one core and of other hosts; lattice schemes with a hint at the client are one to two orders of magnitude "
        "faster (docs/retrieval.md)."
    ),
    view="retrievals",
    subject=subject.RETRIEVAL,
    narrowed_by=("operation", "variant"),
    order=_ORDER,
    tell=retrieval.answers,
    chart="retrieval.against_size",
    columns=(*_ASKED, *COSTS, *STORES),
    empty="This run has no retrieval whose answers are right.",
)
MOVED = Figure(
    name="communication",
    title="Communication against computation",
    lead=(
        "Bytes of query and answer beside the time of the answer, both for each element that is got, both logarithmic: "
        "left and low is better, and of two marks neither may be. So several elements by one query, and several "
        "queries in a pass, show what they save. Times over a link are those of both parties and of the bytes at its "
        "rate, without latency; keys, which a client sends once, are in none of them."
    ),
    view="retrievals",
    subject=subject.RETRIEVAL,
    narrowed_by=("operation", "variant"),
    order=_ORDER,
    chart="retrieval.moved",
    columns=(*_ASKED, *COSTS[-3:], COSTS[0], *LINKS),
    empty=RETRIEVALS.empty,
)
AT_ONCE = Figure(
    name="retrieval-at-once",
    title="Several at once",
    lead=(
        "Median time of the server's answer for each element that is got, by how many a pass brings: by queries of "
        "several clients in a pass, and by several elements for one query, where a run has both one and more of a "
        "database. Low is better; both axes are logarithmic. Of one alone: the time of a query among several by that "
        "of the same query alone."
    ),
    view="retrievals_at_once",
    subject=subject.RETRIEVAL,
    narrowed_by=("operation", "variant"),
    order="database_size, scheme, threads, operation, answered_size, got, variant",
    chart="retrieval.at_once",
    columns=(
        *_ASKED,
        Column("inputs", "Queries", formats.digits, is_number=True),
        _seconds("answer_s", "Answer"),
        _seconds("query_s", "A query"),
        _seconds("element_s", "An element"),
        Column("alone_share", "Of one alone", formats.share, is_number=True),
    ),
    empty="This run has no database of which both one element and several were got in a pass.",
)
SCALING = Figure(
    name="retrieval-scaling",
    title="How answers grow with the database",
    lead=(
        "Of three databases or more, by cases that differ in nothing else: the slope of the logarithms (near 0 where "
        "what is done once dominates, 1 in proportion), and the straight line through the times: what an answer takes "
        "of no data, and how many bytes a second it goes through from there on."
    ),
    view="retrieval_scaling",
    subject=subject.RETRIEVAL,
    narrowed_by=("operation", "variant"),
    order="operation, answered_size, scheme, threads, inputs, ring_dimension, variant",
    columns=(
        WORKLOAD,
        Column("answered_size", "Got", formats.size, is_number=True),
        SCHEME,
        THREADS,
        VARIANT,
        N,
        Column("points", "Databases", formats.digits, is_number=True),
        _bytes("smallest_database", "From"),
        _bytes("largest_database", "To"),
        Column("exponent", "Exponent", formats.digits, is_number=True),
        _seconds("constant_s", "Of no data"),
        _speed("marginal_throughput", "From there on"),
        Column("fit", "Fit", formats.share, is_number=True),
    ),
    empty="This run has no protocol of retrieval over three databases or more.",
)
