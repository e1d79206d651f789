"""What the circuits of networks take, and that they give the logits: in ckks, and exactly in bfv."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cache

import pytest
from circuit_execution import ADAPTER
from test_workloads_inference import shipped_image

from ciphermark_measure.parties.in_process import InProcess
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.inference.inputs import Images
from ciphermark_workloads.inference.networks import stored
from ciphermark_workloads.programs import keys_of

IN_ONE_PATTERN = {"square": 2, "relinearize": 2, "rotate": 2 + 10 + 5 + 6 + 3}
BY_PHASES = {"square": 2, "relinearize": 2, "mul_plain": 9 + 32 + 16, "add_plain": 3, "add": 8 + 31 + 15 + 11}
BY_PHASES |= {"rotate": (8 + 2) + (10 + 5) + (6 + 4)}
# A sum of products of ciphertexts is of three polynomials and takes a relinearization, as a square does.
ENCRYPTED = IN_ONE_PATTERN | {"mul": 7 + 32 + 16, "add": 62, "relinearize": 1 + 4 + 4 + 2}
# 125 products with numbers and 36 with plaintexts: 4 rotations join maps, 7 copy, 13 times 10 sum up rows and 12 join
# them, 10 times 13 sum up logits. Six levels, one of them for masks.
PUBLISHED = {"weighted_sum": 5, "terms": 125, "mul_plain": 13 + 13 + 10, "square": 2, "relinearize": 2}
PUBLISHED |= dict.fromkeys(("rotate", "add"), 4 + 7 + 13 * 10 + 12 + 10 * 13)
PUBLISHED |= {"rescale": 5 + 2 + 13 + 13 + 10, "add_plain": 5 + 1 + 10}
# Of 25 taps at 169 positions, 2·13 meet a zero below or to the right at 5 taps each, one position at both: 4,096 pixels
# are met, 5 maps each.
NEURONS, SQUARES = 845 + 100 + 10, 845 + 100
SIDE_BY_SIDE = {"weighted_sum": NEURONS, "terms": 5 * 4096 + 84_500 + 1_000, "add_plain": NEURONS}
SIDE_BY_SIDE |= {"square": SQUARES, "relinearize": SQUARES}
# Of 9 taps at 16 positions 2·4 − 1 positions meet zeros: 121 pixels are met, 5 maps each. Biases are brought to the
# scale of their sums by a product each.
PRODUCTS, BIASES = 5 * 121 + 32 * 80 + 10 * 32, 5 + 32 + 10
ENCRYPTED_NUMBERS = {
    "mul": PRODUCTS,
    "add": PRODUCTS,
    "relinearize": (80 + 32 + 10) + (80 + 32),
    "rescale": (80 + 32 + 10) + (80 + 32) + BIASES,
    "square": 80 + 32,
    "mul_plain": BIASES,
}


def of_taps(ciphertexts: int) -> dict[str, int]:
    """55 products and 26 rotations for LoLa's network, fewer products where there are fewer taps."""
    return IN_ONE_PATTERN | {"mul_plain": ciphertexts + 32 + 16, "add": ciphertexts - 1 + 31 + 15 + 10}


@dataclass(frozen=True)
class Takes:
    """Ciphertexts up and down, operations and rotation keys of the last stage, and operations of ``load``."""

    inputs: int
    outputs: int
    operations: dict[str, int]
    keys: int = 20
    load: dict[str, int] | None = None
    hoisted: tuple[int, ...] = ()  # rotations that are one operation


TRANSFORMS = {"transform_back": 1 + 4 + 4}  # each turn of a baby step is transformed once
PROGRAMS = {
    ("digits", "ckks"): Takes(3, 1, of_taps(3) | {"rescale": 5}),
    ("lola-mnist", "ckks"): Takes(7, 1, of_taps(7) | {"rescale": 5}),
    ("digits", "bfv"): Takes(
        3, 1, of_taps(3) | TRANSFORMS | {"transform_ciphertext": 3 + 8 + 4, "mod_switch": 2}
    ),
    ("lola-mnist", "bfv"): Takes(
        7, 1, of_taps(7) | TRANSFORMS | {"transform_ciphertext": 7 + 8 + 4, "mod_switch": 2}
    ),
    ("lola-mnist-encrypted", "ckks"): Takes(
        7, 1, ENCRYPTED | {"rescale": 5}, load={"mod_switch": 2 * 32 + 4 * 16}
    ),
    # Weights of the dense layers go a level down with each square before them.
    ("lola-mnist-encrypted", "bfv"): Takes(
        7, 1, ENCRYPTED | {"mod_switch": 2}, load={"mod_switch": 32 + 2 * 16}
    ),
    ("lola-mnist-one", "ckks"): Takes(1, 1, BY_PHASES | {"rescale": 5}, keys=24, hoisted=(8, 2)),
    ("lola-mnist-one", "bfv"): Takes(
        1,
        1,
        BY_PHASES | TRANSFORMS | {"transform_ciphertext": 9 + 8 + 4, "mod_switch": 2},
        keys=24,
        hoisted=(8, 2),
    ),
    ("lola-mnist-published", "ckks"): Takes(25, 10, PUBLISHED, keys=0),
    ("cryptonets", "ckks"): Takes(784, 10, SIDE_BY_SIDE | {"rescale": NEURONS + SQUARES}, keys=0),
    ("cryptonets", "bfv"): Takes(784, 10, SIDE_BY_SIDE | {"mod_switch": SQUARES}, keys=0),
    ("cryptonets-digits-encrypted", "ckks"): Takes(
        64, 10, ENCRYPTED_NUMBERS, keys=0, load={"mod_switch": 2 * (32 * 80 + 32) + 4 * (10 * 32 + 10)}
    ),
}
ALONE = [("digits-one", "ckks"), *((f"digits{form}", "bfv") for form in ("-encrypted", "-one"))]
MANY = [("cryptonets-digits", scheme) for scheme in ("ckks", "bfv")]


def images_of(name):
    """Some of those that are shipped, one by one or side by side."""
    shipped = "lola-mnist" if "lola" in name or name == "cryptonets" else "digits"
    if "cryptonets" in name:
        held = stored.shipped(shipped)
        return [Images(held.images[:7], held.labels[:7])]
    return [shipped_image(shipped, number) for number in ((0, 7, 199) if name == "digits" else (7,))]


@cache
def carried_out(name, scheme):
    """Images side by side need no more slots than there are of them: in a small ring."""
    workload = WORKLOADS[name]
    spec = workload.parameters(scheme)
    if "cryptonets" in name:
        spec = replace(spec, ring_dimension=64, security=0)
    return InProcess(workload, ADAPTER, spec, images_of(name)[0])


def operations(program):
    """An inner product of k terms counts as k products and k − 1 additions, rotations at once as so many."""
    counts = Counter(node.operation for node in program.nodes)
    for node in program.nodes:
        if node.operation == "multiply_accumulate":
            counts.update(mul_plain=len(node.operands), add=len(node.operands) - 1)
        if node.operation == "rotate_hoisted":
            counts["rotate"] += len(node.arguments)
        if node.operation == "weighted_sum":
            counts["terms"] += len(node.operands)
    del counts["multiply_accumulate"], counts["rotate_hoisted"]
    return counts


@pytest.mark.parametrize(("name", "scheme"), [*PROGRAMS, *ALONE, *MANY])
def test_circuits_give_the_logits(name, scheme):
    """In bfv exactly, on plain vectors residue by residue."""
    both = carried_out(name, scheme)
    for images in images_of(name):
        judgement = both.judged(both.output(both.executed(images)["infer"].outputs, images), images)
        assert judgement.complaint is None
        assert judgement.results["logit_error"] <= (0 if scheme == "bfv" else 1e-9)
        assert judgement.results["images"] == (7 if "cryptonets" in name else 1)


@pytest.mark.parametrize(("name", "scheme"), PROGRAMS)
def test_programs_take_what_the_packing_was_designed_for(name, scheme):
    """And keys are told without an image."""
    both, expected = carried_out(name, scheme), PROGRAMS[name, scheme]
    program = both.programs["infer"].program
    sent = len(both.workload.vectors("infer", images_of(name)[0], both.parameters))
    assert (sent, len(program.outputs)) == (expected.inputs, expected.outputs)
    assert program.depth == {"bfv": 2, "ckks": 6 if "published" in name else 5}[scheme]
    assert operations(program) == expected.operations
    hoisted = [len(node.arguments) for node in program.nodes if node.operation == "rotate_hoisted"]
    assert hoisted == [*expected.hoisted]
    if expected.load is not None:
        assert operations(both.programs["load"].program) == expected.load
    keys = both.workload.keys(both.parameters)
    assert keys == keys_of(both.programs.values())
    if expected.keys:
        assert len(keys.rotations.steps) == expected.keys
