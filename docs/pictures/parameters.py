"""Draws docs/pictures/parameters.svg: the primes of chains for some depths, against what each N allows at 128 bits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ciphermark_core import primes, security
from ciphermark_core.chains import chain_for_depth, ckks_chain
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import ParameterSpec, Scheme

PICTURE = Path(__file__).with_name("parameters.svg")
DEPTHS = (1, 2, 3, 5, 8, 12)
RINGS = (4096, 8192, 16384, 32768)
SCALE_BITS, T_BITS = 40, 20
WIDTH, LEFT, TOP, ROW, BIT = 960, 150, 60, 26, 0.88
COLOURS = {"data": "#0072B2", "special": "#D55E00", "limit": "#444"}


def chains() -> list[tuple[Scheme, int, int, tuple[int, ...]]]:
    """Scheme, depth, the smallest N that is 128-bit secure by the 2018 table, and the sizes of the primes."""
    return [(scheme, depth, *_least(scheme, depth)) for scheme in ("bfv", "ckks") for depth in DEPTHS]


def _least(scheme: Scheme, depth: int) -> tuple[int, tuple[int, ...]]:
    is_ckks = scheme == "ckks"
    for ring_dimension in RINGS:
        spec = ParameterSpec(
            scheme,
            ring_dimension,
            modulus_bits=None,
            plain_modulus=None if is_ckks else primes.widest_batching_modulus(T_BITS),
            scale_bits=SCALE_BITS if is_ckks else None,
            depth=depth,
        )
        with suppress(Unsupported):
            chain = ckks_chain(SCALE_BITS, depth, largest_result=1) if is_ckks else chain_for_depth(spec)
            if sum(chain) <= (security.limit("2018", ring_dimension, 128) or 0):
                return ring_dimension, chain
    raise ValueError(f"no ring for {scheme} at depth {depth}")


def picture() -> str:
    """The SVG."""
    rows = chains()
    height = TOP + (len(rows) + 1) * ROW + 50
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            'font-family="DejaVu Sans, Arial, sans-serif" font-size="12">',
            f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
            *_limits(TOP + (len(rows) + 1) * ROW),
            *(line for number, row in enumerate(rows) for line in _row(number, row)),
            f'<text x="{LEFT}" y="{height - 14}" fill="#444">Blue: primes for data. Orange: the special prime, for '
            "switching keys. Together they must end before the line of N.</text>",
            "</svg>\n",
        ]
    )


def _limits(bottom: float) -> Iterator[str]:
    for ring_dimension in RINGS:
        x = LEFT + BIT * (security.limit("2018", ring_dimension, 128) or 0)
        ends = f'x1="{x:g}" y1="{TOP - 12}" x2="{x:g}" y2="{bottom}"'
        yield f'<line {ends} stroke="{COLOURS["limit"]}" stroke-dasharray="4 3"/>'
        yield f'<text x="{x:g}" y="{TOP - 20}" text-anchor="middle">N = {ring_dimension}</text>'


def _row(number: int, row: tuple[Scheme, int, int, tuple[int, ...]]) -> Iterator[str]:
    scheme, depth, ring_dimension, chain = row
    y = TOP + (number + (number >= len(DEPTHS))) * ROW
    yield f'<text x="{LEFT - 10}" y="{y + 13}" text-anchor="end">{scheme}, depth {depth}</text>'
    x = float(LEFT)
    for place, bits in enumerate(chain, start=1):
        colour = COLOURS["special" if place == len(chain) else "data"]
        yield f'<rect x="{x:g}" y="{y}" width="{bits * BIT - 1:g}" height="{ROW - 8}" fill="{colour}"/>'
        x += bits * BIT
    halo = 'stroke="white" stroke-width="4" paint-order="stroke"'  # over the lines of limits
    yield f'<text x="{x + 6:g}" y="{y + 13}" {halo}>{sum(chain)} bits: N = {ring_dimension}</text>'


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
