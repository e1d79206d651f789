"""The suite form of the kind ``chain``: what it means as cases, and every mistake with its line."""

from __future__ import annotations

import golden
import pytest

from ciphermark_adapters import registry
from ciphermark_adapters.registry import Availability
from ciphermark_benchmark.suite import estimate, files, plan
from ciphermark_benchmark.suite.form import json_schema
from ciphermark_benchmark.suite.plan import PlannedCase
from ciphermark_core.budget import Budget
from ciphermark_core.errors import UserError
from ciphermark_measure.experiments import KINDS

CHAIN = """\
name: mine
experiments:
  - kind: repetition
    variants: [cleartext]
    schemes: [bgv, ckks]
    ring_dimension: smallest-secure
    modulus_bits: for-depth
    plain_modulus: {value: 65537}
    scale_bits: 35
    vector_length: [16]
    operations: [mul]
    repetitions: [2, 20]
"""


def cases(text: str) -> list[PlannedCase]:
    suite = files.parse(text, "mine.yaml")
    names = {name for item in suite.experiments for name in item.variants}
    return plan.cases(suite, {name: Availability(registry.declaration(name)) for name in names})


def changed(old: str, new: str) -> str:
    assert old in CHAIN
    return CHAIN.replace(old, new)


@pytest.mark.parametrize(
    ("kind", "operations", "outer"),
    [
        ("arithmetic", "add, mul_full", 34),
        ("arithmetic", "mul_full, {add_many: [1000]}", 43),
        ("rotation", "{rotate: [1]}", 34),
        ("serialization", "none", 34),
        ("depth", "mul", 34),
        (
            "depth",
            "mul, add",
            None,
        ),  # sums that are repeated have no bound: room for 2^19, as the library takes it
    ],
)
def test_a_ckks_chain_has_the_room_that_its_operations_take(
    kind: str, operations: str, outer: int | None
) -> None:
    text = changed("kind: repetition", f"kind: {kind}").replace("repetitions: [2, 20]", "depth: 2")
    text = text.replace("scale_bits: 35", "scale_bits: 30").replace("[mul]", f"[{operations}]")
    specs = {item.case.parameters for item in cases(text) if item.case.parameters.scheme == "ckks"}
    sizes = None if outer is None else (outer, 30, 30, outer)
    assert {(spec.depth, spec.modulus_bits) for spec in specs} == {(2, sizes)}


def test_the_chain_is_made_for_the_repetitions_at_a_ring_that_is_searched_for() -> None:
    found = [item.case for item in cases(CHAIN)]
    assert [(case.parameters.scheme, case.dimensions.get("repetitions")) for case in found] == [
        ("bgv", 2),
        ("bgv", 20),
        ("ckks", 2),
        ("ckks", 20),
    ]
    for case in found:
        spec = case.parameters
        assert (spec.depth, spec.ring_dimension_is_minimum, spec.ring_dimension) == (
            case.dimensions.get("repetitions"),
            True,
            1024,
        )
        sizes = None if spec.scheme == "bgv" else (39, *[35] * (spec.depth or 0), 39)
        assert (spec.modulus_bits, case.dimensions.get("max_repetitions")) == (sizes, None)
    assert {item.reason for item in cases(CHAIN)} == {None}


def test_a_given_chain_is_the_same_for_every_count() -> None:
    text = changed("smallest-secure", "[8192]").replace("for-depth", "[40, 35, 35, 40]").replace("mul", "add")
    found = [item.case.parameters for item in cases(text)]
    assert {(spec.modulus_bits, spec.depth, spec.ring_dimension_is_minimum) for spec in found} == {
        ((40, 35, 35, 40), None, False)
    }


def test_blocks_of_one_chain_serve_all_counts() -> None:
    """Additions with one chain of primes need one worker; multiplications need a chain for every depth."""
    text = changed("smallest-secure", "[8192]").replace("for-depth", "[40, 35, 35, 40]").replace("mul", "add")
    suite = files.parse(text, "mine.yaml")
    assert len(plan.make("12345678123456781234567812345678", suite, cases(text)).blocks) == 2
    suite = files.parse(CHAIN, "mine.yaml")
    assert len(plan.make("12345678123456781234567812345678", suite, cases(CHAIN)).blocks) == 4


@pytest.mark.parametrize("kind", [name for name in KINDS if name != "repetition"])
def test_every_kind_takes_a_chain_for_a_depth_at_the_smallest_ring(kind: str) -> None:
    text = changed("kind: repetition", f"kind: {kind}").replace(
        "    repetitions: [2, 20]\n", "    depth: 3\n"
    )
    found = cases(text.replace("    operations: [mul]\n", ""))
    assert found
    specs = {item.case.parameters for item in found}
    assert {(spec.depth, spec.ring_dimension_is_minimum) for spec in specs} == {(3, True)}


def test_a_depth_of_its_own_takes_any_operation_in_a_row() -> None:
    text = changed("for-depth", "for-depth\n    depth: 2").replace("[mul]", "[add, {rotate: [1]}]")
    found = [item.case for item in cases(text)]
    assert {case.parameters.depth for case in found} == {2}
    assert {case.operation for case in found} == {"add", "rotate(1)"}


def test_rotations_among_arithmetic_are_cases_of_rotation() -> None:
    text = changed("kind: repetition", "kind: arithmetic").replace(
        "    repetitions: [2, 20]\n", "    depth: 3\n"
    )
    found = [item.case for item in cases(text.replace("[mul]", "[mul, {rotate: [1]}]"))]
    assert {(case.experiment, case.operation) for case in found} == {
        ("arithmetic", "mul"),
        ("rotation", "rotate(1)"),
    }


def test_t_gives_slots_at_as_many_rings_as_its_size_allows() -> None:
    (first, *_) = cases(changed("{value: 65537}", "{bits: 20}"))
    assert first.case.parameters.plain_modulus == 786433  # 1 modulo 2^18: at every ring up to 131072
    (first, *_) = cases(changed("{value: 65537}", "{bits: 17}"))
    assert first.case.parameters.plain_modulus == 65537


@pytest.mark.parametrize("variant", ["seal", "openfhe"])
def test_a_chain_that_is_too_long_is_told_beforehand(variant: str) -> None:
    """Of OpenFHE, too, which chooses its primes: those for data alone are too many here."""
    found = [
        item.reason
        for item in cases(changed("smallest-secure", "[1024]").replace("[cleartext]", f"[{variant}]"))
    ]
    assert len(found) == 4
    for reason in found:
        assert "is above 27, the 2018 table's limit" in (reason or "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (changed("scale_bits: 35", "scale_bits: 25"), "primes of 25 bits are few at N ≥ 8192"),
        (changed("value: 65537", "value: 65539"), "t = 65539 gives no slots at N = 1024"),
        (changed("smallest-secure", "[1024]").replace("[16]", "[2048]"), "a chain works on one ciphertext"),
    ],
    ids=["small primes", "t", "size"],
)
def test_the_impossible_has_a_reason(text: str, words: str) -> None:
    assert any(words in (item.reason or "") for item in cases(text))


WRONG = {
    "no repetitions": changed("    repetitions: [2, 20]\n", ""),
    "repetitions elsewhere": changed("kind: repetition", "kind: depth")
    .replace("smallest-secure", "[4096]")
    .replace("for-depth", "default"),
    "no repetition": changed("[2, 20]", "[0]"),
    "repetitions twice": changed("[2, 20]", "[2, 2]"),
    "no depth": changed("kind: repetition", "kind: depth").replace("    repetitions: [2, 20]\n", ""),
    "depth of a given chain": changed("for-depth", "[40, 40]\n    depth: 3"),
    "no multiplication": changed("for-depth", "for-depth\n    depth: 0"),
    "for-depth of an addition": changed("[mul]", "[mul, add]"),
    "smallest of the default": changed("for-depth", "default"),
    "smallest of nothing": changed("    modulus_bits: for-depth\n", ""),
    "smallest and full": changed("[16]", "[full]"),
    "smallest and insecure": changed("[16]\n", "[16]\n    security: none\n"),
    "a word like smallest": changed("smallest-secure", "smalest"),
    "a word like for-depth": changed("for-depth", "for-dept"),
    "one ring without brackets": changed("smallest-secure", "8192"),
}


def complaint(text: str) -> str:
    with pytest.raises(UserError) as caught:
        files.parse(text, "mine.yaml")
    (line,) = str(caught.value).splitlines()
    return line


def test_every_mistake_is_told_with_its_line() -> None:
    text = "".join(f"{name}\n    {complaint(text)}\n" for name, text in WRONG.items())
    golden.compare("suite-mistakes-of-repetition.txt", text)


def test_the_schema_knows_the_words() -> None:
    fields = json_schema()["$defs"]["ExperimentText"]["properties"]
    assert {"repetition"} <= set(fields["kind"]["enum"])
    assert "smallest-secure" in str(fields["ring_dimension"])
    assert "for-depth" in str(fields["modulus_bits"])
    assert "repetitions" in fields


def test_an_estimate_grows_with_depth_and_count() -> None:
    found = cases(CHAIN)
    shallow, deep = ([item] for item in found[:2])
    assert estimate.of_plan(deep, Budget()).seconds > 3 * estimate.of_plan(shallow, Budget()).seconds
