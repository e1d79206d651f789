"""The family ``retrieval``: every element comes back byte for byte on every variant that has the operations, and the
server cannot tell what was asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import retrieval_costs

from ciphermark_adapters import registry
from ciphermark_contract.declaration import SEEDED_CIPHERTEXT
from ciphermark_contract.interfaces import Unsupported
from ciphermark_core.descriptor import Value
from ciphermark_core.errors import Exhausted
from ciphermark_core.model import Parameters, Scheme
from ciphermark_measure.parties.in_process import InProcess
from ciphermark_workloads.catalogue import WORKLOADS, AnyWorkload
from ciphermark_workloads.parameters import NOTHING, Override, recommended
from ciphermark_workloads.retrieval import batch_pir
from ciphermark_workloads.retrieval.columns import FastPir, Layout
from ciphermark_workloads.retrieval.database import Rows
from ciphermark_workloads.retrieval.grids import Grid, MulPir, SealPir, SquareGrid
from ciphermark_workloads.retrieval.keyword_pir import Table, generated
from ciphermark_workloads.retrieval.queries import ABSENT, IndexRetrieval

from . import harness
from .cells import Cell, each, has_managed, where
from .checks.parties import Parties
from .checks.rings import small_ring

pytestmark = [pytest.mark.schemes("bfv", "bgv"), where(has_managed("add", "mul_plain", "rotate"))]

_ESTIMATE_BYTES = 32  # a format may have an estimate of the noise as text: digits of it come and go
ROW = 512
# Three blocks of which the last is not full, and an odd size; what is least; a full block; the longest elements.
SMALL: Mapping[str, Mapping[str, Value]] = {
    "fast-pir three blocks": {"elements": 2 * ROW + 100, "element_bytes": 33},
    "fast-pir one byte": {"elements": 1, "element_bytes": 1},
    "fast-pir one full block": {"elements": ROW, "element_bytes": 2},
    "fast-pir longest": {"elements": 3, "element_bytes": 2 * ROW * 2},
    # Twelve plaintexts of 60 elements in a grid of 6 × 2, of which the last is not full; and two chunks an element.
    "mul-pir grid": {"elements": 11 * 60 + 7, "element_bytes": 33},
    "mul-pir one byte": {"elements": 1, "element_bytes": 1},
    "mul-pir chunks": {"elements": 3, "element_bytes": 2501},
    # Twelve plaintexts of 73 elements in a grid of 4 × 3, of which the last is not full; and two chunks an element.
    "seal-pir grid": {"elements": 11 * 73 + 7, "element_bytes": 33},
    "seal-pir one byte": {"elements": 1, "element_bytes": 1},
    "seal-pir chunks": {"elements": 3, "element_bytes": 3001},
}
RINGS = {"fast-pir": 4096, "mul-pir": 8192, "seal-pir": 4096}
# Chains that noise of the default database is larger than.
TOO_SMALL = {"fast-pir": (34, 56), "mul-pir": (35, 35, 50), "seal-pir": (24, 35, 36)}
# Three groups of eight buckets, with more than a block of 64 elements each; a table of more than two blocks.
SEVERAL: Mapping[str, Mapping[str, Value]] = {
    "batch-pir groups": {"elements": 700, "element_bytes": 129, "wanted": 16},
    "keyword-pir blocks": {"records": 1000, "value_bytes": 33},
    # 17 places, of which at N = 1024 and 16 bits a slot 32 records of 18 symbols share a plaintext; and two chunks a
    # record, as published.
    "constant-weight-pir shelves": {"records": 900, "value_bytes": 33, "keyword_bits": 12},
    "constant-weight-pir chunks": {"records": 7, "value_bytes": 2501, "keyword_bits": 4},
    "constant-weight-pir one": {"records": 1, "value_bytes": 1, "keyword_bits": 1},
    "constant-weight-pir-published records": {"records": 40, "value_bytes": 33, "keyword_bits": 6},
    "constant-weight-pir-published chunks": {"records": 7, "value_bytes": 2501, "keyword_bits": 4},
}
CODED = tuple(case for case in SEVERAL if case.startswith("constant-weight"))
# Elements of a block or plaintext, in the first of the cases above.
UNITS = {"fast-pir": ROW, "mul-pir": 60, "seal-pir": 73}


def _workload(case: str) -> AnyWorkload:
    return WORKLOADS[case.partition(" ")[0]].with_options((SMALL | SEVERAL)[case])


def _together(workload: AnyWorkload, variant: str, scheme: Scheme, override: Override) -> InProcess:
    both = harness.in_process(workload, variant, scheme, workload.input(0, None), override)
    parameters = both.parameters
    assert min(parameters.security_2018, parameters.security_2024) >= (parameters.spec.security or 0)
    return both


def _complaint(both: InProcess, given: Any) -> str | None:
    try:
        return harness.judgement(both, given).complaint
    except Exhausted as error:  # wrong, for want of noise budget
        return str(error)


def _indices(workload: AnyWorkload, variant: str) -> list[int]:
    """The first and the last, and both sides of an edge of a block or plaintext. In the clear, where the layout shows
    and nothing else: of every edge, and ten more.
    """
    elements, unit = workload.options.elements, UNITS[workload.name]
    if variant != "cleartext":
        return sorted({index for index in (0, unit - 1, unit, elements - 1) if index < elements})
    edges = {place + side for place in range(0, elements + unit, unit) for side in (-1, 0)} | {elements - 1}
    drawn = np.random.default_rng(elements).integers(elements, size=10)
    return sorted({int(index) for index in [*edges, *drawn] if 0 <= index < elements})


def _is_for(cell: Cell, name: str) -> bool:
    """Whether a variant has what a workload needs in a scheme."""
    workload, scheme = WORKLOADS[name], cell.scheme
    return scheme in workload.schemes and all(
        cell.declared.has(operation, scheme) for operation in workload.operations(scheme)
    )


def _of(*cases: str) -> Callable[[Cell], list[str]]:
    """Those of the cases whose workload a cell has."""
    return lambda cell: [case for case in cases if _is_for(cell, case.partition(" ")[0])]


@each("case", _of(*SMALL))
def test_small(variant: str, scheme: Scheme, case: str) -> None:
    """A wrong answer is 80 standard deviations of the noise away in bfv with the recommended primes, at the longest
    elements, and further with larger ones. In SEAL's bgv the noise of a key is √(1 + 3κ) times that, κ > 60 with a
    chance below e^-70 (columns.uncentred_deviation), so that 6 deviations are left for all others, and 20 for most.
    With products of ciphertexts it is 2^20 deviations away in bfv, and 2^10 in bgv; with words 2^9.
    """
    workload = _workload(case)
    both = _together(workload, variant, scheme, small_ring(variant, scheme))
    for index in _indices(workload, variant):
        assert _complaint(both, index) is None, index


def test_several_at_once(variant: str, scheme: Scheme) -> None:
    """The first and the last elements, those on both sides of a block's edge in their buckets, and others; a wrong
    answer is as far away as for one.
    """
    workload = _workload("batch-pir groups")
    both = _together(workload, variant, scheme, small_ring(variant, scheme))
    at_edges = np.flatnonzero(np.isin(batch_pir.batch_code(700, 16).positions, (63, 64)).any(axis=1))
    assert at_edges.size >= 16
    several = (at_edges[:16].tolist(), range(16), range(684, 700), workload.input(1, None))
    for given in several[: 4 if variant == "cleartext" else 2]:
        assert _complaint(both, [*given]) is None, given


def test_by_keyword(variant: str, scheme: Scheme) -> None:
    """Records on both sides of a block's edge and others, and what the database does not have, which is told apart; a
    wrong answer is as far away as with an index.
    """
    workload = _workload("keyword-pir blocks")
    both = _together(workload, variant, scheme, small_ring(variant, scheme))
    names = generated(1000, 1)
    places = Table(1000, 1).arranged(names)
    at_edges = [
        names[number]
        for number in places[[0, 1, 2, 3, *range(ROW - 6, ROW + 6), *range(-6, 0)]]
        if number >= 0
    ]
    assert len(at_edges) >= 10
    asked = [*at_edges, *names[:5], b""] if variant == "cleartext" else [*at_edges[4:8], *names[:2]]
    for keyword in [*asked, b"another"]:
        assert _complaint(both, keyword) is None, keyword
    outputs = both.executed(b"another")["answer"].outputs
    assert both.output(outputs, b"another").tolist() == [ABSENT]


@each("case", _of(*CODED))
def test_by_a_number_as_keyword(variant: str, scheme: Scheme, case: str) -> None:
    """The first and the last keywords that the database has and does not have, and others of both kinds; what is absent
    is told apart. A wrong answer is 2^18 standard deviations away in bfv (retrieval_costs.code_noise_ratio).
    """
    workload = _workload(case)
    both = _together(workload, variant, scheme, small_ring(variant, scheme))
    known, every = set(workload.numbers()), range(1 << workload.options.keyword_bits)
    present, absent = ([key for key in every if (key in known) is is_there] for is_there in (True, False))
    some = (
        {*present[:4], *present[-4:], *present[::100]}
        if variant == "cleartext"
        else {present[0], present[-1]}
    )
    for keyword in some:
        assert _complaint(both, keyword) is None, keyword
    for keyword in {absent[0], absent[-1]}:
        outputs = both.executed(keyword)["answer"].outputs
        assert both.output(outputs, keyword).tolist() == [ABSENT], keyword


class _Same(NamedTuple):
    """A database whose bytes are all the same."""

    byte: int
    size: int

    def rows(self, start: int, stop: int) -> Rows:
        return np.full((stop - start, self.size), self.byte, dtype=np.uint8)


@each("kind", lambda cell: [kind for kind in (FastPir, MulPir, SealPir) if _is_for(cell, kind.name)])
def test_bytes_that_are_all_the_same(variant: str, scheme: Scheme, kind: type[IndexRetrieval]) -> None:
    """Libraries refuse the product of a ciphertext with a plaintext of zeros."""
    for byte in (0, 255):
        options = {"elements": ROW, "element_bytes": 7}
        workload = type("Alike", (kind,), {"database": lambda _, byte=byte: _Same(byte, 7)})()
        both = _together(workload.with_options(options), variant, scheme, small_ring(variant, scheme))
        for index in (0, ROW - 1):
            assert _complaint(both, index) is None


@pytest.mark.variants("seal")
@each("name", _of("fast-pir", "mul-pir", "seal-pir"))
def test_full_size(variant: str, scheme: Scheme, name: str) -> None:
    """With the recommended parameters, 128 bits secure by both tables; a wrong answer has a chance below 2^-37. More
    elements, of a size that fills no slots: test_retrieval_user_records.
    """
    workload, elements = WORKLOADS[name].with_options({"elements": 4096, "element_bytes": 256}), 4096
    both = _together(workload, variant, scheme, NOTHING)
    assert both.parameters.ring_dimension == RINGS[name]
    assert min(both.parameters.security_2018, both.parameters.security_2024) >= 128
    for index in (0, 2047, 2048, elements - 1):
        assert _complaint(both, index) is None, index


@pytest.mark.variants("seal")
@pytest.mark.schemes("bfv")
def test_more_blocks_than_are_multiplied_at_once(variant: str, scheme: Scheme) -> None:
    """Parts of sums, of more than one group of columns; 40 standard deviations of the noise are left in bfv."""
    workload = WORKLOADS["fast-pir"].with_options({"elements": 66 * ROW - 1, "element_bytes": 260})
    both = _together(workload, variant, scheme, small_ring(variant, scheme))
    for index in (0, 64 * ROW - 1, 64 * ROW, 66 * ROW - 2):
        assert _complaint(both, index) is None, index


@pytest.mark.variants("seal")
@each("name", _of("fast-pir", "mul-pir", "seal-pir"))
def test_answers_are_wrong_where_noise_reaches_them(variant: str, scheme: Scheme, name: str) -> None:
    """With 2^-16 of the modulus, or 2^-30, noise is hundreds of times what decrypts right, and with 2^-11 of the last
    prime, twice: bytes that all are right are a matter of 256^-256.
    """
    both = _together(WORKLOADS[name], variant, scheme, Override(modulus_bits=TOO_SMALL[name]))
    assert re.search("values are wrong|no noise budget is left", str(_complaint(both, 7)))


@pytest.mark.variants("seal")
@each("name", _of("constant-weight-pir"))
def test_no_record_comes_back_where_noise_reaches_it(variant: str, scheme: Scheme, name: str) -> None:
    """With 2^-30 of the modulus noise is a thousand times what decrypts right, and a right record a matter of
    256^-256.
    """
    workload = WORKLOADS[name].with_options({"records": 40, "value_bytes": 256, "keyword_bits": 6})
    both = _together(workload, variant, scheme, Override(modulus_bits=TOO_SMALL["mul-pir"]))
    assert _complaint(both, next(iter(workload.numbers()))) is not None


def _sizes(name: str, parameters: Parameters) -> tuple[int, ...]:
    """Of a query, a query with seeds, an answer and the keys."""
    primes, slots = len(parameters.moduli), parameters.ring_dimension
    if name == "fast-pir":
        query, answer, keys = retrieval_costs.column_sizes(Layout.of(4096, 256, parameters), primes)
    elif name == "mul-pir":
        query, answer, keys = retrieval_costs.grid_sizes(Grid.of(4096, 256, parameters), primes)
        keys += retrieval_costs.key_bytes(slots, primes)
    else:
        grid = SquareGrid.of(4096, 256, parameters)
        query, answer, keys = retrieval_costs.grid_sizes(grid, primes)
        answer *= retrieval_costs.word_count(grid, 35)
    return query, query // 2, answer, keys


@pytest.mark.variants("seal")
@each("name", _of("fast-pir", "mul-pir", "seal-pir"))
def test_sizes_are_those_of_the_formulas(variant: str, scheme: Scheme, name: str) -> None:
    """But for some hundred bytes that tell what each object is."""
    workload = WORKLOADS[name]
    both = _together(workload, variant, scheme, NOTHING)
    query = [
        both.owner.dump(both.owner.encrypt(item), "none")
        for item in workload.vectors("answer", 9, both.parameters)
    ]
    answer = [both.evaluator.dump(item, "none") for item in both.executed(9)["answer"].outputs]
    seeded = [
        both.owner.dump_seeded(SEEDED_CIPHERTEXT, item, "none")
        for item in workload.vectors("answer", 9, both.parameters)
    ]
    keys = [*both.owner.public_material()]
    for parts, expected in zip((query, seeded, answer, keys), _sizes(name, both.parameters), strict=True):
        assert 0 <= sum(map(len, parts)) - expected < 2000 * len(parts)


def _asked(folder: Path, variant: str, scheme: Scheme, case: str) -> Parties:
    workload = _workload(case)
    spec = recommended(workload, scheme, registry.declaration(variant), small_ring(variant, scheme))
    return Parties(folder, variant, workload.name, (SMALL | SEVERAL)[case], parameters=spec)


def _given(case: str, workload: AnyWorkload) -> Mapping[int, Any]:
    """What seeds ask for: of single elements, the block or plaintext that it is in."""
    inputs = {seed: workload.input(seed, None) for seed in range(200)}
    return (
        inputs if case in SEVERAL else {seed: index // UNITS[workload.name] for seed, index in inputs.items()}
    )


ALIKE = (
    "fast-pir three blocks",
    "mul-pir grid",
    "seal-pir grid",
    "batch-pir groups",
    "keyword-pir blocks",
    "constant-weight-pir shelves",
    "constant-weight-pir-published records",
)


def _alike(cell: Cell) -> list[str]:
    """What is sent follows from the workload: beside one library, others show their own bytes in the first cases."""
    return _of(*(ALIKE if cell.declared.variant in ("cleartext", "seal") else ALIKE[:2]))(cell)


@each("case", _alike)
def test_all_that_the_server_is_sent_is_alike_for_two_indices(
    variant: str, scheme: Scheme, case: str, tmp_path: Path
) -> None:
    """As many ciphertexts of the same sizes, the same words in the clear, and the same program to execute."""
    asked = _asked(tmp_path, variant, scheme, case)
    given = _given(case, _workload(case))
    others = [seed for seed in given if given[seed] != given[0]]
    seeds = [0, others[0], next(seed for seed in others if given[seed] != given[others[0]])]
    told = [asked.passed(seed) for seed in seeds]
    assert [scored.complaint for _, _, scored in told] == [None] * 3
    assert len({sent.public.digest for sent, _, _ in told}) == 1
    assert len({back.program for _, back, _ in told}) == 1
    sizes = [[len(part) for part in asked.server.got(sent.inputs)] for sent, _, _ in told]
    assert sizes[0] == sizes[1] == sizes[2]
    assert len(set(sizes[0])) == 1
    assert len({sum(blob.parts for blob in back.outputs) for _, back, _ in told}) == 1
    answers = [blob.size_bytes for _, back, _ in told for blob in back.outputs]
    assert max(answers) - min(answers) <= _ESTIMATE_BYTES


@pytest.mark.variants("seal", "openfhe", "pyfhel")
def test_a_query_is_sent_with_seeds_where_the_library_writes_them(
    variant: str, scheme: Scheme, tmp_path: Path
) -> None:
    """Then half a query travels, and the server, which knows no secret, makes the other half of the seeds."""
    case = "fast-pir three blocks"
    asked = _asked(tmp_path, variant, scheme, case)
    sent, _, scored = asked.passed(3)
    assert scored.complaint is None
    polynomial = 8 * 2 * ROW  # of one prime for data, of which OpenFHE has as many
    halves = 1 if registry.declaration(variant).writes_seeded else 2
    parts = asked.server.got(sent.inputs)
    assert len(parts) == 3
    assert all(len(part) // polynomial == halves for part in parts), sent.inputs
    steps = {sample.step for sample in sent.samples if sample.stage == "answer"}
    assert {"pack", "encrypt"} <= steps
    assert ("serialize" in steps) == (halves == 2)


def test_what_is_too_long_for_the_ring_is_refused(variant: str, scheme: Scheme) -> None:
    workload = WORKLOADS["fast-pir"].with_options({"elements": 1, "element_bytes": 4 * ROW + 1})
    with pytest.raises(Unsupported, match="elements have at most 2048 bytes"):
        _together(workload, variant, scheme, small_ring(variant, scheme))
