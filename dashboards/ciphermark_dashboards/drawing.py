"""The page where a visitor draws a digit, and sees how each party contributes to classifying it under encryption."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from ciphermark_core.errors import UserError
from ciphermark_dashboards import templating
from ciphermark_dashboards.access import form
from ciphermark_dashboards.benchmark import Benchmark

PATH = "/draw"
SIDE = 28
_UNCONNECTED = "This dashboard is read-only: no benchmark service with libraries is configured."
# Each party's action in a step, in words.
STEPS = {
    "load": "loads the library",
    "keygen": "generates the keys; the secret key stays in its memory",
    "deserialize": "deserializes the received objects",
    "pack": "arranges the pixels for the first layer",
    "encrypt": "encrypts the pixels",
    "trace": "builds the network's circuit",
    "encode": "encodes the weights",
    "evaluate": "evaluates the network on ciphertexts",
    "serialize": "serializes ciphertexts",
    "decrypt": "decrypts ten scores",
    "unpack": "finds the highest score",
}


@dataclass(frozen=True, slots=True)
class Bar:
    """The score of a digit; ``share`` is the length of its bar, from 0 to 100."""

    digit: int
    score: float
    share: float


def router(benchmark: Benchmark | None) -> APIRouter:
    """The routes of the page and of its form."""
    routes = APIRouter()

    @routes.get(PATH)
    async def asked() -> HTMLResponse:
        variants, why_not = await _offered(benchmark)
        return _page(variants, why_not)

    @routes.post(PATH)
    async def drawn(request: Request) -> HTMLResponse:
        fields = await form(request)
        if benchmark is None:
            raise UserError(_UNCONNECTED)
        pixels = pixels_of(fields.get("pixels", ""))
        variant = fields.get("variant", "")
        answer = await benchmark.classify({"variant": variant, "pixels": pixels})
        variants, why_not = await _offered(benchmark)
        shown = {"answer": answer, "bars": bars(answer["scores"]), "dots": dots(pixels)}
        return _page(variants, why_not, chosen=variant, **shown)

    return routes


def _page(variants: Sequence[str], why_not: str | None, **context: Any) -> HTMLResponse:
    context |= {"title": "Draw a digit", "path": "/inference", "variants": variants, "why_not": why_not}
    return templating.page("draw.html", side=SIDE, words=STEPS, **context)


def pixels_of(text: str) -> list[float]:
    """Comma-separated numbers from 0 to 1, row by row. Raises ``UserError`` for anything else."""
    parts = text.split(",")
    try:
        pixels = [float(part) for part in parts]
    except ValueError:
        raise UserError("The drawing is missing: draw a digit first.") from None
    if len(pixels) != SIDE * SIDE or not all(0 <= value <= 1 for value in pixels):
        raise UserError(f"A drawing has {SIDE} × {SIDE} numbers from 0 to 1.")
    if not any(pixels):
        raise UserError("The drawing is empty: draw a digit first.")
    return pixels


def bars(scores: Sequence[float]) -> list[Bar]:
    """The scores with bars, whose lengths run from the minimum to the maximum score."""
    least, room = min(scores), (max(scores) - min(scores)) or 1.0
    return [Bar(digit, score, 100 * (score - least) / room) for digit, score in enumerate(scores)]


def dots(pixels: Sequence[float]) -> list[tuple[int, int, float]]:
    """Column, row and darkness of the pixels that are not empty."""
    return [(i % SIDE, i // SIDE, round(value, 3)) for i, value in enumerate(pixels) if value]


async def _offered(benchmark: Benchmark | None) -> tuple[list[str], str | None]:
    """The variants to choose from; or the reason why no image can be classified now."""
    if benchmark is None:
        return [], _UNCONNECTED
    try:
        return await benchmark.classifiers(), None
    except UserError as error:
        return [], str(error)
