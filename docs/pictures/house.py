"""Draws docs/pictures/house.svg: the packages in the layers that `make check` holds them to. Run it from anywhere."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from pathlib import Path

import tomllib

REPOSITORY = Path(__file__).parents[2]
PICTURE = Path(__file__).with_name("house.svg")
WIDTH, ROW, GAP, MARGIN = 960, 74, 12, 24
# What a package is for, in one line or two.
WORDS = {
    "benchmark": ("suite, data sets, parties, runner,", "jobs, REST, command line"),
    "client": ("the party with", "the secret key, over REST"),
    "server": ("the party that", "evaluates, over REST"),
    "dashboards": ("pages and reports",),
    "parties": ("what services of parties share",),
    "present": ("every figure and table, once",),
    "measure": ("workers, experiments, probes,", "both parties, blobs"),
    "db": ("migrations, views as files,", "gateway, embedded server"),
    "web": ("tokens, limits, health,", "logs, problems"),
    "workloads": ("families of workloads, data sets",),
    "ciphermark": ("what users import: computations, runs, predictions, advice",),
    "circuits": ("computations over the contract",),
    "model": ("cost tables, predictions, advice: pure",),
    "adapters": ("one folder per library: declaration, driver, recipe",),
    "contract": ("operations, programs, tracing, interfaces: no library",),
    "analysis": ("results, ratios, ranks, comparisons: every statistic",),
    "core": ("model, metrics, dimensions, security tables, primes, host",),
}
COLOURS = ("#dce9f7", "#e3f1de", "#fbeed0", "#f3dfe6", "#e6e2f4", "#d9efee", "#efefef", "#f7e4d6")


def layers() -> list[list[str]]:
    """The packages of each layer, the uppermost first."""
    linter = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["importlinter"]
    (rows,) = (
        contract["layers"]
        for contract in linter["contracts"]
        if contract["type"] == "layers" and "containers" not in contract
    )
    return [[name.strip().removeprefix("ciphermark_") for name in row.split("|")] for row in rows]


def picture(rows: Sequence[Sequence[str]]) -> str:
    """The SVG."""
    height = 2 * MARGIN + len(rows) * ROW + (len(rows) - 1) * GAP + 28
    body = [line for number, row in enumerate(rows) for line in _layer(number, row)]
    caption = "A package imports from lower layers alone; what stands side by side does not know each other."
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            'font-family="DejaVu Sans, Arial, sans-serif">',
            f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
            *body,
            f'<text x="{WIDTH / 2:g}" y="{height - MARGIN + 6}" font-size="13" text-anchor="middle" fill="#444">'
            f"{caption}</text>",
            "</svg>\n",
        ]
    )


def _layer(number: int, names: Sequence[str]) -> Iterator[str]:
    y = MARGIN + number * (ROW + GAP)
    width = (WIDTH - 2 * MARGIN - (len(names) - 1) * GAP) / len(names)
    for index, name in enumerate(names):
        x = MARGIN + index * (width + GAP)
        yield (
            f'<rect x="{x:g}" y="{y}" width="{width:g}" height="{ROW}" rx="6" '
            f'fill="{COLOURS[number % len(COLOURS)]}" stroke="#555"/>'
        )
        middle = x + width / 2
        texts = WORDS[name]
        top = y + ROW / 2 + 5 - 9 * len(texts)
        yield f'<text x="{middle:g}" y="{top:g}" font-size="17" font-weight="bold" text-anchor="middle">{name}</text>'
        for line, text in enumerate(texts, 1):
            yield (
                f'<text x="{middle:g}" y="{top + 4 + 17 * line:g}" font-size="13" text-anchor="middle" fill="#333">'
                f"{html.escape(text)}</text>"
            )


if __name__ == "__main__":
    PICTURE.write_text(picture(layers()))
