"""LoLa's published circuit: the operations that its authors' code has, and the logits of the network."""

from __future__ import annotations

from collections import Counter

import pytest
from circuit_execution import ADAPTER
from test_workloads_inference import shipped_image

from ciphermark_contract.interfaces import Unsupported
from ciphermark_measure.parties.in_process import InProcess
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.inference.network import Shape
from ciphermark_workloads.programs import keys_of

WORKLOAD = WORKLOADS["lola-mnist-published"]


@pytest.fixture(scope="module")
def both():
    return InProcess(WORKLOAD, ADAPTER, WORKLOAD.parameters("ckks"), shipped_image("lola-mnist", 0))


def test_the_circuit_gives_the_logits(both):
    for image in (shipped_image("lola-mnist", number) for number in (0, 7, 199)):
        judgement = both.judged(both.output(both.executed(image)["infer"].outputs, image), image)
        assert judgement.complaint is None
        assert judgement.figures["logit_error"] < 1e-9


def test_it_takes_the_operations_of_the_published_code(both):
    """125 products with numbers and 36 with plaintexts, 283 rotations: 4 join maps, 7 copy, 13 times 10 sum up rows and
    12 join them, 10 times 13 sum up logits; two squares. Here five levels of rescaling and a sixth for masks.
    """
    program = both.programs["infer"].program
    counts = Counter(node.operation for node in program.nodes)
    weighted = [len(node.operands) for node in program.nodes if node.operation == "weighted_sum"]
    assert weighted == [25] * 5
    assert counts["mul_plain"] == 13 + 13 + 10 == 36
    assert counts["rotate"] == 4 + 7 + 13 * 10 + 12 + 10 * 13 == 283
    assert (counts["square"], counts["relinearize"]) == (2, 2)
    assert (len(program.inputs), len(program.outputs), program.depth) == (25, 10, 6)
    told = WORKLOAD.keys(both.parameters)
    assert told == keys_of(both.programs.values())


def test_networks_and_rings_that_the_packing_is_not_for_are_refused():
    with pytest.raises(Unsupported, match="1445 neurons of maps, and this packing has slots for 1024"):
        WORKLOAD.require_shape(Shape(36, 4, 2, 5, 100, 10))
    parameters = ADAPTER.resolve(WORKLOADS["lola-mnist"].parameters("ckks"))
    with pytest.raises(Unsupported, match="takes 8192 slots, and a ciphertext has 4096"):
        WORKLOAD.vectors("infer", shipped_image("lola-mnist", 0), parameters)
