"""Charts of the family inference: cost, transfer and accuracy of classifying encrypted images."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ciphermark_present import charting, formats, headings, page, parameters, plots, sentences, stacks
from ciphermark_present.catalogue import columns, layers, passes
from ciphermark_present.catalogue.columns import (
    BUILD,
    OPTIONS,
    SCHEME,
    SECURITY_2018,
    SECURITY_2024,
    THREADS,
    WORKLOAD,
    N,
)
from ciphermark_present.catalogue.published import PUBLISHED
from ciphermark_present.charting import Chart, alt
from ciphermark_present.figure import Column, Figure, Layout
from ciphermark_present.formats import digits, seconds
from ciphermark_present.page import Page
from ciphermark_present.plots import Measure
from ciphermark_present.printed import Cells, Head, Wanted, of
from ciphermark_present.query import DISTURBED_TIMES, Row, is_disturbed
from ciphermark_present.subject import Subject

SUBJECT = Subject(("inference",))

_PLACE = ("operation", "options", "scheme", "images", "threads", "security_shown")


def tell_classifications(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """The fastest variant for each network, scheme, level and number of images in a pass."""
    for row in sentences.fastest(every, _PLACE, "infer_s"):
        several = "" if row["images"] == 1 else f", {digits(row['images'])} images in a pass"
        threads = "" if row["threads"] == 1 else f", {row['threads']} threads"
        yield (
            f"{row['operation']} in {row['scheme'].upper()} at {sentences.level_and_table(row)}{several}{threads}: "
            f"fastest median time {seconds(row['infer_s'])} ({row['variant']}), "
            f"{digits(row['images_per_s'])} images/s, agreement with the network in the clear {row['agreeing']}."
        )


# In the order of a pass. What else the parties do is the rest of their sums.
_PART_NAMES = {
    "encrypt_s": "client: pack and encrypt",
    "infer_s": "server: the network",
    "serialize_s": "both: write and read",
    "decrypt_s": "client: decrypt",
    "rest_s": "the rest of both",
}


_PASSES = (
    *("variant", "panel", "apart", "line", "infer_s", "images_per_s", "images", "from", "to"),
    *plots.LABEL,
)


def draw_throughput(rows: Sequence[Row]) -> Chart | None:
    """Latency of a pass against images per second: a mark for each variant and number of images. Each workload, scheme,
    level and number of threads has a separate small chart, since their times are not comparable.
    """
    passes, notes = charting.enough(charting.with_ends(_named(rows), "infer_s"), "panel")
    if not passes:
        return None
    names = charting.variants_of(passes)
    lines_of = parameters.apart(passes, lambda row: (row["panel"], row["variant"], row["images"]))
    times = charting.seconds(row[name] for row in passes for name in ("infer_s", "from", "to"))
    x = Measure("infer_s", "Latency", times)
    y = Measure("images_per_s", "Images/s", charting.plain(row["images_per_s"] for row in passes))
    several = len({row["images"] for row in passes}) > 1
    texts = [charting.joined(row["variant"], _images(row["images"]) if several else "") for row in passes]
    marks = [
        {**row, "line": line, "text": text} for row, line, text in zip(passes, lines_of, texts, strict=True)
    ]
    drawn = plots.labelled(marks, x, y, "text", is_above=True)
    place = alt.Chart().encode(
        x=alt.X("infer_s:Q", title=x.title, **x.axis), y=alt.Y("images_per_s:Q", title=y.title, **y.axis)
    )
    base = place.encode(color=charting.colour(names))
    lines = base.mark_line(strokeWidth=1.5).encode(order="images:Q", detail="line:N")
    points = base.mark_point(filled=True, size=60, opacity=1).encode(
        shape=charting.shape(names),
        detail="apart:N",
        tooltip=charting.tips(
            "variant:N",
            "apart:N",
            charting.text_tip("infer_s", "Latency"),
            charting.text_tip("images_per_s", "Images/s"),
            "images:Q",
        ),
    )
    data = charting.data(drawn, *_PASSES, infer_s=formats.seconds, images_per_s=formats.digits)
    layers = [lines, *charting.intervals(base, "x"), points, plots.label_layer(place)]
    chart = alt.layer(*layers, data=data)
    return charting.small_charts(chart, "panel").properties(**charting.noted(notes))


def _images(count: float) -> str:
    return "1 image" if count == 1 else f"{digits(count)} images"


def find_throughput(rows: Sequence[Row]) -> str:
    """The largest number of images per second, and its latency."""
    timed = [row for row in rows if row["images_per_s"] and not is_disturbed(row, "infer_s")]
    if not timed:
        return ""
    best = max(timed, key=lambda row: float(row["images_per_s"]))
    return (
        f"{best['variant']} classifies {digits(best['images_per_s'])} images per second ({best['operation']}), "
        f"at a latency of {seconds(best['infer_s'])}"
    )


def draw_parts(rows: Sequence[Row]) -> Chart | None:
    """The work of both parties in a pass: a bar for each variant, one small chart for each workload, scheme, level and
    number of threads.
    """
    return stacks.bars(_parts(rows))


def find_part(rows: Sequence[Row]) -> str:
    """The activity that takes most of a pass, over all bars."""
    part, share = next(iter(stacks.shares(_parts(rows)).items()), ("", 0.0))
    return f"Most of a pass is “{part}”: {share:.0%} of both parties' time" if part else ""


def _parts(rows: Sequence[Row]) -> list[Row]:
    """The parts of bars."""
    return [
        {
            **charting.as_seconds(row, column),
            "part": part,
            "place": place,
            "bar": stacks.bar_name(row["variant"], row["apart"]),
        }
        for row in map(_with_rest, _named(rows))
        for place, (column, part) in enumerate(_PART_NAMES.items())
    ]


def _with_rest(row: Row) -> Row:
    """The row with a time of every part; the rest is disturbed where a party's sum is."""
    times = {name: row[name] or 0.0 for name in _PART_NAMES if name in row}
    rest = max(0.0, (row["client_s"] or 0.0) + (row["server_s"] or 0.0) - sum(times.values()))
    is_lost = is_disturbed(row, "client_s") or is_disturbed(row, "server_s")
    disturbed = [*(row.get(DISTURBED_TIMES) or ()), *["rest_s"] * is_lost]
    return {**row, **times, "rest_s": rest, DISTURBED_TIMES: disturbed}


def _named(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows that have a time, with their small chart (``panel``), and the properties that distinguish rows of a
    chart.
    """
    timed = [{**row, "panel": _chart(row)} for row in rows if row["infer_s"]]
    labels = parameters.apart(timed, lambda row: row["panel"])
    return [{**row, "apart": label} for row, label in zip(timed, labels, strict=True)]


def _chart(row: Row) -> str:
    level = sentences.stated_level(row)
    return charting.joined(row["operation"], row["scheme"], level, sentences.threads(row))


IMAGES = columns.count("images", "Images")
_WEIGHTS = columns.encrypted(columns.size("weights_size", "Weights"))
COSTS = (
    columns.seconds("infer_s", "Network"),
    columns.count("images_per_s", "Images/s"),
    columns.encrypted(columns.size("upload", "Upload")),
    columns.size("download", "Download"),
    columns.size("keys_size", "Keys"),
    _WEIGHTS,
)
QUALITY = (
    Column("agreeing", "Agreement", formats.text),
    Column("correct", "Right class", formats.text),
    Column("logit_error", "Largest error of a logit", formats.digits, is_number=True, short="logit error"),
    columns.count("margin", "Margin"),
)
_PARTS = (
    columns.encrypted(columns.seconds("encrypt_s", "Pack and encrypt")),
    columns.seconds("infer_s", "Network"),
    columns.encrypted(columns.seconds("serialize_s", "Write and read")),
    columns.seconds("decrypt_s", "Decrypt"),
    columns.encrypted(columns.seconds("client_s", "Client")),
    columns.encrypted(columns.seconds("server_s", "Server")),
    columns.seconds("preparation_s", "Prepared once"),
)
_ASKED = (
    WORKLOAD,
    replace(IMAGES, detail=5),
    *columns.opened(OPTIONS),
    SCHEME,
    *columns.opened(THREADS),
    BUILD,
    *columns.opened(N, SECURITY_2018, SECURITY_2024),
)
_ORDER = "operation, options, scheme, threads, images, 'infer_s' = any(disturbed_times), infer_s, variant"


def workload_with_options(row: Row) -> str:
    """The workload with the options that a suite varied, including images per pass, and threads other than one."""
    return ", ".join(filter(None, (row["operation"], row["options"], sentences.threads(row))))


def _listed(rows: Sequence[Row], _: Wanted) -> list[Cells]:
    quality = [column for column in QUALITY if any(row[column.name] is not None for row in rows)]
    costs = [of(column, drop) for drop, column in enumerate((*COSTS[:2], _WEIGHTS))]
    case_columns = [of(BUILD), *headings.cells(rows)]
    return [
        (Head("workload"), workload_with_options),
        *case_columns,
        *costs,
        *(of(column, 9) for column in quality),
    ]


LAYOUT = Layout(
    title="Inference",
    about=lambda rows, _: "Network: median server time of a pass. Agreement: with the network in the clear",
    columns=_listed,
    place=60,
)
INFERENCES = Figure(
    name="inferences",
    title="Latency and throughput",
    lead=("Median time of the server's pass against classified images per second. Upper left is better."),
    reading=(
        "A pass has one image, the inputs_per_pass of the suite, or as many images"
        " as ciphertexts hold side by side. Agreement compares with the unencrypted network; correct images "
        "get their own class. In workloads named -encrypted the weights are secret, too."
    ),
    view="inferences",
    subject=SUBJECT,
    order=_ORDER,
    tell=tell_classifications,
    finding=find_throughput,
    chart=draw_throughput,
    printed=(LAYOUT,),
    columns=(*_ASKED, *COSTS[:4], QUALITY[0], *columns.opened(*COSTS[4:], *QUALITY[1:])),
    empty="This run has no inference with correct logits.",
)
PARTS = Figure(
    name="classification",
    title="Classification time by activity",
    lead="Share of each activity in the median times of both parties, whose sum is at the end of its bar.",
    reading=(
        "Activities exclude the transfer. One-time preparation of the server, with encoded weights, is listed "
        "separately."
    ),
    view="inferences",
    subject=SUBJECT,
    order=_ORDER,
    finding=find_part,
    chart=draw_parts,
    printed=(),
    columns=(*_ASKED, *_PARTS[:2], *_PARTS[3:6], *columns.opened(_PARTS[2], *_PARTS[6:])),
    empty="This run has no inference with correct logits.",
)
PUBLISHED_INFERENCES = replace(
    PUBLISHED,
    name="published-inferences",
    title="Published inferences next to this run",
    lead="Results from papers, each with its host and security. They are never ranked.",
    reading=(
        "The results of this run have the security level of their N and modulus chain. They use another "
        "circuit for the same network (docs/reference/workloads/inference.md)."
    ),
    subject=SUBJECT,
)


LAYERS = replace(
    layers.LAYERS,
    subject=SUBJECT,
    printed=(layers.LAYOUT,),
    empty="This run has no network whose layers were executed.",
)


PAGE = Page(
    "/inference",
    "Inference",
    ("Classification of encrypted images by the server's network; its weights are plain or encrypted."),
    (page.WORKLOAD, page.TABLE, page.VARIANT, page.BANDWIDTH),
    (INFERENCES, PARTS, LAYERS, *passes.of_family("inference", SUBJECT), PUBLISHED_INFERENCES),
    question="How long does it take to {operation} under encryption, with levels by the {table}?",
    suite="inference",
    place=80,
)
