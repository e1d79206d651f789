"""What protocols of retrieval cost by their formulas: operations, sizes and noise, which programs and libraries are
compared with.

Of nq blocks and ncol columns (FastPIR), n1 rows and n2 columns (MulPIR, SealPIR), and m code places and the codes of p
shelves that are not empty (constant weight), for elements of ``chunks`` plaintexts each; with k = ``primes`` primes for
data and one special prime. Sizes are SEAL's: N words of 8 bytes for each prime of a polynomial.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from math import log2, sqrt

from ciphermark_adapters import registry
from ciphermark_circuits import expansion
from ciphermark_circuits.constant_weight import Code
from ciphermark_contract.program import Program
from ciphermark_core.model import Parameters
from ciphermark_workloads.retrieval.columns import SIGMA, Layout
from ciphermark_workloads.retrieval.grids import Grid
from ciphermark_workloads.retrieval.keyword_table import KeywordTable

_WORD = 8  # bytes of a coefficient modulo a prime

RING = 512
# Of several blocks, columns or plaintexts more than the outline has; in a ring of that dimension.
DATABASES = {
    "fast-pir": {"elements": 900, "element_bytes": 40},
    "batch-pir": {"elements": 900, "element_bytes": 40, "wanted": 16},
    "mul-pir": {"elements": 200, "element_bytes": 288},
    "seal-pir": {"elements": 200, "element_bytes": 288},
    "keyword-pir": {"records": 700, "value_bytes": 40},
    "constant-weight-pir": {"records": 700, "value_bytes": 40},
    "constant-weight-pir-published": {"records": 70, "value_bytes": 40, "keyword_bits": 12},
}


def resolved(workload, scheme="bfv", **changes) -> Parameters:
    """Its parameters in the clear, with some of them otherwise, of any security."""
    spec = replace(workload.parameters(scheme), security=0, **changes)
    return registry.load("cleartext").resolve(spec)


# --- Operations of the server for one answer --------------------------------------------------------------------------


@dataclass(frozen=True)
class Counts:
    """``additions`` are all, also those that double what has no partner. Ciphertexts are transformed where they are
    kept in coefficient form; ``switches`` each drop a prime. Of the expansion there are as many differences as shifts.
    """

    plain_products: int
    additions: int
    rotations: int
    transforms: int
    transforms_back: int
    shifts: int = 0
    products: int = 0
    relinearizations: int = 0
    word_products: int = 0
    switches: int = 0


def operations(program: Program) -> Counter[str]:
    """Those of a program, an inner product of k terms as k products and k − 1 additions."""
    counter = Counter(node.operation for node in program.nodes)
    fused = [len(node.operands) for node in program.nodes if node.operation == "multiply_accumulate"]
    assert counter.pop("multiply_accumulate", 0) == len(fused)
    return +(counter + Counter(mul_plain_ntt=sum(fused), add=sum(fused) - len(fused)))


def expected_operations(counts: Counts, program: Program, variant: str) -> Counter[str]:
    """By a library's own calls: shifts are products with plaintexts where it has no call for them; OpenFHE keeps all in
    NTT form, Pyfhel nothing.
    """
    declared = registry.declaration(variant).operations[program.scheme]
    same = Counter(
        add=counts.additions,
        sub=counts.shifts,
        rotate=counts.rotations,
        mul=counts.products,
        mul_word=counts.word_products,
    )
    if not program.is_managed:
        same["relinearize"] = counts.relinearizations
        same["mod_switch"] = counts.switches if "mod_switch" in declared else 0
    if (variant, program.scheme) == ("seal", "bfv"):
        own = Counter(
            mul_plain_ntt=counts.plain_products,
            mul_monomial=counts.shifts,
            transform_ciphertext=counts.transforms,
            transform_back=counts.transforms_back,
        )
    else:
        name = "mul_plain" if variant == "pyfhel" else "mul_plain_ntt"
        own = Counter({name: counts.plain_products + counts.shifts})
    return +(same + own)


def of_columns(layout: Layout, groups: int = 1) -> Counts:
    """nq·ncol products with plaintexts, one addition fewer, and ncol − 1 rotations, whatever n is; of a batch for each
    group of buckets.
    """
    products = layout.blocks * layout.columns
    one = (products, products - 1, layout.columns - 1, layout.blocks, layout.columns)
    return Counts(*(groups * count for count in one))


def of_grid(grid: Grid, primes: int) -> Counts:
    """n1 + n2 − 1 rotations for the expansion; and for each chunk n1·n2 products with plaintexts, n2 of ciphertexts,
    one relinearization.
    """
    (rows, columns), chunks, turned = grid.shape, grid.chunks, _expansions(grid)
    return Counts(
        plain_products=chunks * rows * columns,
        additions=_expansion_additions(grid) + chunks * (rows * columns - 1),
        rotations=turned,
        transforms=rows,
        transforms_back=chunks * columns,
        shifts=turned,
        products=chunks * columns,
        relinearizations=chunks,
        switches=(primes - 1) * chunks,
    )


def of_words(grid: Grid, primes: int, prime_bits: int) -> Counts:
    """n1 + n2 − 2 rotations for the expansion; for each chunk n1·n2 products with the database's plaintexts, and F·n2
    with words.
    """
    (rows, columns), chunks, parts = grid.shape, grid.chunks, word_count(grid, prime_bits)
    turned = _expansions(grid)
    return Counts(
        plain_products=chunks * rows * columns,
        additions=_expansion_additions(grid) + chunks * (columns * (rows - 1) + parts * (columns - 1)),
        rotations=turned,
        transforms=rows + chunks * columns,
        transforms_back=chunks * (columns + parts),
        shifts=turned,
        word_products=chunks * parts * columns,
        switches=(primes - 1) * chunks * (columns + parts),
    )


def of_codes(table: KeywordTable, codes: Collection[Code], primes: int) -> Counts:
    """m − 1 rotations for the expansion; and for each chunk p products with plaintexts, a product of ciphertexts for
    each upper place that is in use, at most m − 1 of them, and one relinearization.
    """
    lower, upper = ({code[place] for code in codes} for place in (0, 1))
    doubled = (1 << expansion.rounds(table.length)) - 1
    return Counts(
        plain_products=table.chunks * len(codes),
        additions=doubled + table.chunks * (len(codes) - 1),
        rotations=table.length - 1,
        transforms=len(lower),
        transforms_back=table.chunks * len(upper),
        shifts=table.length - 1,
        products=table.chunks * len(upper),
        relinearizations=table.chunks,
        switches=(primes - 1) * table.chunks,
    )


def of_published_codes(table: KeywordTable, codes: Collection[Code], primes: int) -> Counts:
    """As published: a product of ciphertexts and a relinearization for each shelf that is not empty."""
    return replace(
        of_codes(table, codes, primes),
        products=len(codes),
        relinearizations=len(codes),
        transforms=len(codes),
        transforms_back=table.chunks,
    )


def word_count(grid: Grid, prime_bits: int) -> int:
    """F: words of a ciphertext of two polynomials modulo the last prime, which has so many bits."""
    return 2 * -(-prime_bits // grid.symbol_bits)


def _expansions(grid: Grid) -> int:
    """Rotations, and shifts: one less than what each ciphertext expands to."""
    return sum(count - 1 for count in grid.selections)


def _expansion_additions(grid: Grid) -> int:
    """2^rounds − 1 for each ciphertext."""
    return sum((1 << expansion.rounds(count)) - 1 for count in grid.selections)


# --- Bytes ------------------------------------------------------------------------------------------------------------


def ciphertext_bytes(slots: int, primes: int) -> int:
    """Two polynomials, both written out."""
    return 2 * slots * primes * _WORD


def key_bytes(slots: int, primes: int) -> int:
    """One key: a digit for every data prime."""
    return primes * ciphertext_bytes(slots, primes + 1)


def column_sizes(layout: Layout, primes: int) -> tuple[int, int, int]:
    """Of a query of nq ciphertexts, an answer of one, and the keys of ⌈log2 ncol⌉ rotations."""
    slots = 2 * layout.row
    one = ciphertext_bytes(slots, primes)
    return layout.blocks * one, one, (layout.columns - 1).bit_length() * key_bytes(slots, primes)


def grid_sizes(grid: Grid, primes: int) -> tuple[int, int, int]:
    """Of a query, an answer of a ciphertext for each chunk at the last prime, and the keys of the expansion's
    rotations, one for each round of the longest. MulPIR has one key more, SealPIR F times the answer.
    """
    query = len(grid.selections) * ciphertext_bytes(grid.slots, primes)
    keys = expansion.rounds(max(grid.selections)) * key_bytes(grid.slots, primes)
    return query, grid.chunks * ciphertext_bytes(grid.slots, 1), keys


# --- Noise: the largest that decrypts right, q/2t, divided by the standard deviation of an answer's -------------------


def grid_noise_ratio(grid: Grid, primes: int, prime_bits: int, plain_modulus: int, deviation: float) -> float:
    """Of MulPIR, before an answer is switched to a smaller modulus; all primes, the special one too, have
    ``prime_bits`` bits.

    A fresh error of this ``deviation`` a coefficient, and the errors of key switches (a digit of q_i times an error σ,
    divided by the special prime, over all digits; and what rounding by it leaves, times a ternary secret), are added
    up with variances that double in each round. A product with a plaintext of N coefficients that are uniform modulo t
    multiplies deviations by (t/√12)·√N, and n1 of them are added. A product of ciphertexts multiplies an error by t·k,
    k the other's quotient by q, of variance (1 + 2N/3)/12 a coefficient, over N coefficients; n2 are added (Fan and
    Vercauteren, "Somewhat practical fully homomorphic encryption", 2012). The selection's own error is smaller by the
    first factor.
    """
    rows, columns = grid.shape
    selection = _selection_deviation(grid.slots, max(grid.selections), primes, deviation)
    answer = _answer_deviation(selection, grid.slots, rows * columns, plain_modulus)
    return 2.0 ** (primes * prime_bits - 1 - log2(plain_modulus) - log2(answer))


def code_noise_ratio(
    table: KeywordTable, primes: int, prime_bits: int, plain_modulus: int, deviation: float
) -> float:
    """That of MulPIR over as many plaintexts as there can be shelves, for which code places are rows and columns. As
    published the product of ciphertexts comes first, which has the noise of both places: √2 times as much.
    """
    selection = _selection_deviation(table.slots, table.length, primes, deviation)
    answer = _answer_deviation(selection, table.slots, table.shelves, plain_modulus)
    return 2.0 ** (primes * prime_bits - 1 - log2(plain_modulus) - log2(answer))


def word_noise_ratio(grid: Grid, data_bits: Sequence[int], plain_modulus: int, deviation: float) -> float:
    """Of SealPIR, after an answer was switched to the last prime q1; the smaller of both layers. ``data_bits`` are the
    bits of q1 and of the data primes that are dropped, none larger than the special prime.

    What the expansion leaves is multiplied by a plaintext of N coefficients that are uniform modulo t, of deviation
    t/√12, and n1 of these are added: the first layer. The second is a sum of n2 products with words, whose coefficients
    are below 2^w ≤ t. Each is then divided by all primes but the last, which leaves what rounding does. The first
    layer's noise is not in the second: the words of a ciphertext are numbers like any other.
    """
    size, count = grid.slots, max(grid.selections)
    selection = _selection_deviation(size, count, len(data_bits), deviation)
    product = selection * plain_modulus / sqrt(12) * sqrt(size * max(grid.shape))
    last, *dropped = data_bits
    layer = sqrt((product / 2.0 ** sum(dropped)) ** 2 + _rounding_variance(size))
    return 2.0 ** (last - 1 - log2(plain_modulus) - log2(layer))


def _answer_deviation(selection: float, slots: int, plaintexts: int, plain_modulus: int) -> float:
    """Of an answer over so many plaintexts of N slots, of selections whose noise has the deviation ``selection``."""
    product = selection * plain_modulus / sqrt(12) * sqrt(slots)
    return product * plain_modulus * sqrt(_rounding_variance(slots) * slots * plaintexts)


def _selection_deviation(slots: int, count: int, primes: int, deviation: float) -> float:
    """Of the ``count`` ciphertexts that one of a query expands to, of fresh errors of this ``deviation``."""
    switch = primes * slots * SIGMA**2 / 12 + _rounding_variance(slots)
    copies = float(1 << expansion.rounds(count))
    return sqrt(copies * deviation**2 + (copies - 1) * switch)


def _rounding_variance(ring_dimension: int) -> float:
    """Of what rounding both polynomials of a ciphertext leaves, one of them times a ternary secret."""
    return (1 + 2 * ring_dimension / 3) / 12
