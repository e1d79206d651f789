"""Retrieval from databases in files: what comes back is byte for byte what the test wrote there."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from ciphermark_core.descriptor import Value
from ciphermark_core.model import Scheme
from ciphermark_measure.parties.in_process import InProcess
from ciphermark_workloads import user_workloads
from ciphermark_workloads.catalogue import WORKLOADS, AnyWorkload
from ciphermark_workloads.retrieval.queries import ABSENT

from . import harness
from .cells import each

pytestmark = [pytest.mark.variants("seal"), pytest.mark.schemes("bfv", "bgv")]

SIZE, COUNT = 33, 5000
NAMES = ("fast-pir", "mul-pir", "seal-pir")
# With the recommended parameters: blocks of 2,048 elements for FastPIR, plaintexts of ⌊8192/17⌋ = 481 for MulPIR and of
# ⌊4096/14⌋ = 292 for SealPIR.
EDGES = (0, 291, 292, 480, 481, 2047, 2048, 4095, 4096, COUNT - 1)


def _with_file(name: str, file: str, data: bytes, values: Mapping[str, Value]) -> AnyWorkload:
    called = user_workloads.file_name(file, data)
    user_workloads.hold_file(called, data)
    return WORKLOADS[name].with_options(WORKLOADS[name].with_file("database", called, data, values))


def _together(workload: AnyWorkload, variant: str, scheme: Scheme) -> InProcess:
    return harness.in_process(workload, variant, scheme, workload.input(0, None))


@each("name", lambda cell: [name for name in NAMES if cell.scheme in WORKLOADS[name].schemes])
def test_elements_at_the_edges_of_blocks(variant: str, scheme: Scheme, name: str) -> None:
    """A wrong answer has a chance below 2^-37, as at full size."""
    data = np.random.default_rng(3).bytes(SIZE * COUNT)
    both = _together(_with_file(name, "records.bin", data, {"element_bytes": SIZE}), variant, scheme)
    for index in EDGES:
        outputs = both.executed(index)["answer"].outputs
        assert bytes(both.output(outputs, index).tolist()) == data[index * SIZE : (index + 1) * SIZE], index


def test_a_batch_of_lines(variant: str, scheme: Scheme) -> None:
    lines = [f"{number:05d}é".encode() for number in range(COUNT)]
    workload = _with_file("batch-pir", "records.csv", b"\n".join(lines), {"wanted": 16})
    given = sorted({*EDGES, *range(100, 108)})
    both = _together(workload, variant, scheme)
    outputs = both.executed(given)["answer"].outputs
    assert bytes(both.output(outputs, given).tolist()) == b"".join(lines[index] for index in given)


def test_values_of_several_lengths_by_keyword(variant: str, scheme: Scheme) -> None:
    records = {f"name {number}": "v" * (number % 40) + str(number) for number in range(COUNT)}
    data = "".join(f"{keyword},{value}\n" for keyword, value in records.items()).encode()
    both = _together(_with_file("keyword-pir", "records.csv", data, {}), variant, scheme)
    for number in (0, 1, 39, 40, COUNT - 1):
        keyword = f"name {number}".encode()
        outputs = both.executed(keyword)["answer"].outputs
        assert bytes(both.output(outputs, keyword).tolist()) == records[keyword.decode()].encode()
    outputs = both.executed(b"nobody")["answer"].outputs
    assert both.output(outputs, b"nobody").tolist() == [ABSENT]


def test_values_of_several_lengths_by_a_number(variant: str, scheme: Scheme) -> None:
    """256 records of 23 symbols share a plaintext, those of keywords that differ in the lowest eight bits."""
    count = 1200
    records = {13 * number: "v" * (number % 40) + str(number) for number in range(count)}
    data = "".join(f"{keyword},{value}\n" for keyword, value in records.items()).encode()
    workload = _with_file("constant-weight-pir", "records.csv", data, {"keyword_bits": 14})
    both = _together(workload, variant, scheme)
    for keyword in (0, 13 * 39, 13 * (count - 1)):
        outputs = both.executed(keyword)["answer"].outputs
        assert bytes(both.output(outputs, keyword).tolist()) == records[keyword].encode()
    outputs = both.executed(14)["answer"].outputs
    assert both.output(outputs, 14).tolist() == [ABSENT]
