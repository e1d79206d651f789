"""What plans say of a library's limits before it is loaded, and what runs found."""

from __future__ import annotations

from pathlib import Path

import pytest

from ciphermark_adapters import registry
from ciphermark_adapters.registry import Availability
from ciphermark_benchmark import archive, reference_runs
from ciphermark_benchmark.suite import files, plan
from ciphermark_benchmark.suite.feasibility import ParameterFeasibility
from ciphermark_core.model import Case, ParameterSpec, Scheme

# Without `primitives`: OpenFHE itself refuses BGV at N = 8192 there, with primes that no plan foresees.
REFERENCE = [reference_runs.FOLDER / f"{name}.jsonl.xz" for name in sorted(reference_runs.ORDER)]
SMALLEST = {"ring_dimension_is_minimum": True}


def told(variant: str, operation: str, spec: ParameterSpec) -> str | None:
    case = Case(variant, "arithmetic", operation, spec, 16, "random")
    return ParameterFeasibility().reason_against(case, registry.declaration(variant))


@pytest.mark.parametrize(
    ("variant", "operation", "spec", "text"),
    [
        # A modulus chain for a depth, at a ring dimension that is too small for it.
        (
            "seal",
            "mul",
            ParameterSpec("ckks", 4096, scale_bits=35, depth=4),
            "above 109, the 2018 table's limit",
        ),
        (
            "pyfhel",
            "mul",
            ParameterSpec("bgv", 4096, plain_modulus=65537, depth=2),
            "above 109, the 2018 table's",
        ),
        # One of which no ring dimension has room.
        (
            "seal",
            "mul",
            ParameterSpec("ckks", 1024, scale_bits=50, depth=90, **SMALLEST),
            "no N from 1024 to",
        ),
        # Chains of SEAL's own: one prime where keys cannot be switched, and 128 bits of security alone.
        ("seal-hexl", "rotate(1)", ParameterSpec("bfv", 2048, plain_modulus=12289), "needs key switching"),
        ("pyfhel", "relinearize", ParameterSpec("bgv", 1024, plain_modulus=12289), "needs key switching"),
        ("seal", "add", ParameterSpec("bfv", 8192, plain_modulus=65537, security=192), "limit for 192 bits"),
        # What OpenFHE declares.
        (
            "openfhe",
            "add",
            ParameterSpec("bgv", 8192, (50,) * 3, 140737488125953),
            "plaintext moduli of at most 32 bits",
        ),
        (
            "openfhe",
            "add",
            ParameterSpec("bfv", 2048, plain_modulus=12289),
            "no default modulus chain at N = 2048",
        ),
        # Its ckks primes: the sizes that were asked for, whatever it would make of them.
        (
            "openfhe",
            "add",
            ParameterSpec("ckks", 16384, (60, 58, 58, 60), None, 58),
            "a scale of 58 bits is too large",
        ),
        ("openfhe", "add", ParameterSpec("ckks", 16384, (60, 56, 56, 60), None, 56), "at most 55 bits"),
        ("openfhe", "add", ParameterSpec("ckks", 16384, scale_bits=58, depth=2), "at most 56 bits here"),
        ("openfhe", "add", ParameterSpec("ckks", 16384, (60, 58, 57, 60), None, 40), "not of 58, 57 bits"),
        ("openfhe", "add", ParameterSpec("ckks", 16384, (35, 40, 60), None, 40), "first prime of 35 bits"),
        (
            "openfhe",
            "mul",
            ParameterSpec("ckks", 8192, scale_bits=35, depth=4),
            "at least 253 bits, above 218",
        ),
        # Its special prime counts, of 60 bits whatever was asked for.
        (
            "openfhe",
            "add",
            ParameterSpec("ckks", 4096, (39, 31, 31), None, 31),
            "at least 128 bits, above 109",
        ),
        # The largest ring of the table that SEAL enforces for TenSEAL.
        ("tenseal", "add", ParameterSpec("ckks", 65536, (60, 40, 60), None, 40), "which ends at N = 32768"),
        # A chain whose primes for data alone are too many, whatever OpenFHE makes of it.
        (
            "openfhe",
            "mul",
            ParameterSpec("ckks", 4096, scale_bits=35, depth=4),
            "above 109, the 2018 table's",
        ),
        # What HElib declares: at the ring dimension that is asked for, and at those that have room for a depth.
        (
            "helib",
            "add",
            ParameterSpec("bgv", 16384, (54, 54, 60), 65537),
            "above N = 8192 a case takes minutes",
        ),
        (
            "helib",
            "mul",
            ParameterSpec("bgv", 1024, plain_modulus=65537, depth=8, **SMALLEST),
            "above N = 8192",
        ),
    ],
)
def test_what_a_run_would_refuse_is_told_before_it(variant, operation, spec, text) -> None:
    assert text in (told(variant, operation, spec) or "")


@pytest.mark.parametrize(
    ("variant", "operation", "spec"),
    [
        ("seal", "mul", ParameterSpec("ckks", 16384, scale_bits=35, depth=4)),
        ("seal", "mul", ParameterSpec("ckks", 1024, scale_bits=35, depth=4, **SMALLEST)),
        ("seal", "mul", ParameterSpec("bfv", 2048, plain_modulus=12289)),
        ("seal", "rotate(1)", ParameterSpec("bfv", 4096, plain_modulus=65537)),
        ("seal", "zstd", ParameterSpec("bfv", 2048, plain_modulus=12289)),
        ("seal", "mul", ParameterSpec("ckks", 1024, scale_bits=35, depth=10**6, security=0, **SMALLEST)),
        # Pyfhel has other chains for more security, which it does not declare.
        ("pyfhel", "add", ParameterSpec("bfv", 8192, plain_modulus=65537, security=192)),
        # OpenFHE chooses its primes: whether they are secure is for a run to tell.
        ("openfhe", "mul", ParameterSpec("ckks", 8192, scale_bits=35, depth=2)),
        ("openfhe", "add", ParameterSpec("bgv", 8192, (50,) * 3, 65537)),
        ("openfhe", "add", ParameterSpec("ckks", 16384, (60, 55, 55, 60), None, 55)),
        ("openfhe", "add", ParameterSpec("bfv", 16384, (58, 58, 60), 65537)),
        ("openfhe", "add", ParameterSpec("bfv", 1024, plain_modulus=65537, **SMALLEST)),
        ("helib", "add", ParameterSpec("bgv", 8192, (54, 54, 60), 65537)),
        ("helib", "mul", ParameterSpec("bgv", 1024, plain_modulus=65537, depth=1, **SMALLEST)),
        ("helib", "add", ParameterSpec("ckks", 16384, (50, 40, 50), None, 40)),
    ],
)
def test_of_what_may_be_nothing_is_said(variant, operation, spec) -> None:
    assert told(variant, operation, spec) is None


@pytest.mark.parametrize("variant", ["seal", "seal-hexl", "pyfhel", "openfhe"])
@pytest.mark.parametrize("scheme", ["bfv", "bgv", "ckks"])
def test_slots_are_rotated_by_less_than_a_row(variant: str, scheme: Scheme) -> None:
    spec = ParameterSpec(scheme, 4096, (36, 36, 37), 65537, security=0)
    if scheme == "ckks":
        spec = ParameterSpec(scheme, 4096, (40, 30, 39), scale_bits=30, security=0)
    refused = {
        steps
        for steps in (-2049, -2048, -2047, -1, 0, 1, 2047, 2048)
        if told(variant, f"rotate({steps})", spec)
    }
    assert refused == {-2049, -2048, 0, 2048}
    assert told(variant, "rotate(2048)", spec) == (
        "rows have 2048 slots at N = 4096: rotate by 1 to 2047 steps, or by -1 to -2047, not by 2048"
    )


@pytest.mark.parametrize("variant", ["seal", "openfhe"])
@pytest.mark.parametrize("operation", ["rotate(0)", "rotate(65536)"])
def test_no_ring_has_rows_for_some_rotations(variant: str, operation: str) -> None:
    assert told(variant, operation, ParameterSpec("ckks", 1024, scale_bits=35, depth=2, **SMALLEST))


def test_of_several_steps_at_once_each_is_within_a_row() -> None:
    spec = ParameterSpec("ckks", 4096, (40, 30, 39), scale_bits=30, security=0)
    assert told("openfhe", "rotate_hoisted(1, 2, 2047)", spec) is None
    assert "rows have 2048 slots" in (told("openfhe", "rotate_hoisted(1, 2048)", spec) or "")


def test_libraries_that_declare_the_same_are_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    cleartext = registry.load("cleartext")
    resolve = type(cleartext).resolve
    monkeypatch.setattr(
        type(cleartext), "resolve", lambda self, spec: asked.append(spec) or resolve(self, spec)
    )
    foretelling, spec = ParameterFeasibility(), ParameterSpec("bfv", 4096, plain_modulus=65537)
    for variant in ("seal", "seal-hexl"):
        for operation in ("add", "mul"):
            case = Case(variant, "arithmetic", operation, spec, 16, "random")
            assert foretelling.reason_against(case, registry.declaration(variant)) is None
    assert len(asked) == 1


@pytest.mark.parametrize("path", REFERENCE, ids=lambda path: path.name)
def test_what_a_whole_run_found_unsupported_is_what_its_plan_says(path: Path) -> None:
    """But for parameters that a library chooses by itself."""
    header, outcomes = archive.read(path)
    suite = files.parse(header.run.suite_text, path.name)
    measured = {item.trial.case.variant for item in outcomes if item.status != "unsupported"}
    named = {name for experiment in suite.experiments for name in experiment.variants}
    here = {name: Availability(registry.declaration(name)) for name in named}
    # Not every case of a suite is still one of its run: Lattigo's bootstrapping was matched, and is recommended.
    ran = {item.trial.case.key for item in outcomes if item.trial.case.variant in measured}
    planned = {item.case.key: item for item in plan.cases(suite, here) if item.case.key in ran}
    assert planned
    foretold = {key for key, item in planned.items() if item.reason is not None}
    found = {item.trial.case.key for item in outcomes if item.status == "unsupported"} & planned.keys()
    assert foretold <= found
    for key in found - foretold:
        case = planned[key].case
        assert registry.declaration(case.variant).chooses_primes
        assert case.parameters.depth is not None or case.parameters.modulus_bits is None
