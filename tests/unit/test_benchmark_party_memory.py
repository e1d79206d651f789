"""Predicted memory of parties: by the published table of key sizes, near measured peaks, and as a reason in plans."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest

from ciphermark_adapters import registry
from ciphermark_adapters.openfhe import limits
from ciphermark_adapters.registry import Availability
from ciphermark_benchmark.suite import plan
from ciphermark_benchmark.suite.fields import BudgetText
from ciphermark_benchmark.suite.form import Suite
from ciphermark_benchmark.suite.plan import PlannedCase
from ciphermark_contract.footprint import Footprint, OfParties, Switching
from ciphermark_core.key_switching import KeySwitching
from ciphermark_core.model import Parameters, ParameterSpec

RUN = str(uuid.UUID(int=1))


def suite_of(memory_mb: int = 8192, **changes: object) -> Suite:
    experiment = {
        "kind": "micro",
        "variants": ["seal-hexl"],
        "workloads": ["matrix-product-published"],
        "options": {"levels": [10]},
        "ring_dimension": [8192],
        "security": "none",
    }
    return Suite(name="test", budget=BudgetText(memory_mb=memory_mb), experiments=[experiment | changes])


def planned(suite: Suite, host_mb: int | None = None) -> list[PlannedCase]:
    available = {name: Availability(registry.declaration(name)) for name in suite.variants}
    return plan.cases(suite, available, host_mb=host_mb)


def _footprint(variant: str) -> Footprint:
    footprint = registry.declaration(variant).footprint
    assert footprint is not None
    return footprint


def _parameters(ring: int, levels: int, level: int = 128) -> Parameters:
    spec = ParameterSpec(
        "ckks",
        ring,
        (53, *[48] * levels, 60),
        scale_bits=48,
        security=level,
        security_table="2024",
        tuning="recommended",
    )
    return registry.load("cleartext").resolve(spec)


@pytest.mark.parametrize(
    ("levels", "seal_mb", "openfhe_mb"),
    [(10, 132, 32), (12, 182, 38), (14, 240, 44), (16, 306, 50), (18, 380, 56), (20, 462, 60)],
)
def test_rotation_keys_have_the_published_sizes(levels: int, seal_mb: int, openfhe_mb: int) -> None:
    """At N = 65536: CryptOracle's library with two digits, and SEAL with a digit per prime."""
    assert round(_footprint("seal").key_bytes(_parameters(65536, levels)) / 2**20) == seal_mb
    bits = [53, *[48] * levels]
    two_digits = Switching(2, limits.special_primes(bits, KeySwitching("hybrid", 2)))
    published = Footprint(0, per_prime=0, copies=OfParties(0, 0), switching=lambda _: two_digits)
    assert round(published.key_bytes(_parameters(65536, levels)) / 2**20) == openfhe_mb


@pytest.mark.parametrize(
    ("ring", "levels", "level", "switching"),
    [(32768, 10, 128, (2, 5)), (65536, 10, 192, (1, 9)), (65536, 12, 192, (2, 6)), (16384, 10, 0, (3, 4))],
)
def test_openfhe_takes_the_fewest_digits_that_are_secure(
    ring: int, levels: int, level: int, switching: tuple[int, int]
) -> None:
    """At 128 bits and N = 32768 the published two digits with five special primes."""
    assert _footprint("openfhe").switching(_parameters(ring, levels, level)) == switching


# Peaks of client and server in MiB, the larger of all their steps, with Python 3.11 and 3.10 (OpenFHE) on Linux.
MEASURED = [
    ("matrix-product-published", "seal-hexl", "matched", 8192, 14, 1579),
    ("matrix-product-published", "seal-hexl", "matched", 16384, 14, 3035),
    ("matrix-product-published", "openfhe", "matched", 8192, 10, 895),
    ("matrix-product-published", "openfhe", "recommended", 16384, 10, 640),
    ("logistic-published", "seal-hexl", "matched", 16384, 10, 505),
    ("logistic-published", "openfhe", "matched", 8192, 10, 190),
    ("sign-published", "seal-hexl", "matched", 16384, 10, 1102),
    ("sign-published", "openfhe", "matched", 16384, 10, 740),
]


@pytest.mark.parametrize("measured", MEASURED, ids=str)
def test_the_prediction_is_near_the_peak(measured: tuple[str, str, str, int, int, int]) -> None:
    workload, variant, tuning, ring, levels, peak_mb = measured
    suite = suite_of(
        workloads=[workload],
        variants=[variant],
        tuning=tuning,
        ring_dimension=[ring],
        options={"levels": [levels]},
    )
    (item,) = planned(suite)
    assert item.reason is None
    assert item.party_mb == pytest.approx(peak_mb, rel=0.13)


# Peaks of client and server in MiB of parties in processes of their own; `bits` are those of the middle primes.
PARTIES = [
    ("logistic", {"degree": [15]}, 16384, 45, 4, "seal", 108, 114),
    ("logistic", {"degree": [15]}, 16384, 45, 4, "tenseal", 131, 173),
    ("logistic", {"degree": [15]}, 16384, 45, 4, "pyfhel", 122, 131),
    ("logistic", {"degree": [15]}, 16384, 45, 4, "openfhe", 100, 90),
    ("logistic", {"degree": [15]}, 16384, 45, 4, "helib", 94, 86),
    ("logistic", {"degree": [15]}, 16384, 45, 4, "lattigo", 97, 107),
    ("matrix-product", {"side": [16]}, 8192, 40, 2, "seal", 68, 103),
    ("matrix-product", {"side": [16]}, 8192, 40, 2, "pyfhel", 187, 182),
    ("matrix-product", {"side": [16]}, 8192, 40, 2, "openfhe", 108, 106),
    ("matrix-product", {"side": [16]}, 8192, 40, 2, "helib", 123, 103),
    ("matrix-product", {"side": [16]}, 8192, 40, 2, "lattigo", 75, 111),
]


@pytest.mark.parametrize(
    ("workload", "options", "ring", "bits", "primes", "variant", "client_mb", "server_mb"), PARTIES
)
def test_both_parties_are_predicted_for_every_library(  # noqa: PLR0917 - a row of the table
    workload: str,
    options: dict[str, list[int]],
    ring: int,
    bits: int,
    primes: int,
    variant: str,
    client_mb: int,
    server_mb: int,
) -> None:
    """Nearly all peaks are within 5%, all of these within 10%."""
    chain = [50, *[bits] * primes, 50]
    suite = suite_of(
        workloads=[workload],
        variants=[variant],
        ring_dimension=[ring],
        options=options,
        modulus_bits=chain,
        scale_bits=bits,
    )
    (item,) = planned(suite)
    assert item.reason is None
    assert item.memory is not None
    assert item.memory.client / 2**20 == pytest.approx(client_mb, rel=0.1)
    assert item.memory.server / 2**20 == pytest.approx(server_mb, rel=0.1)


def test_a_composite_plaintext_modulus_has_keys_and_a_context_for_each_factor() -> None:
    spec = ParameterSpec("bfv", 8192, (42, 43, 43, 43, 43), 114689, security=0)
    one = registry.load("cleartext").resolve(spec)
    three = registry.load("cleartext").resolve(replace(spec, plain_modulus=114689 * 147457 * 163841))
    for variant in ("seal", "openfhe", "pyfhel", "lattigo"):
        footprint = _footprint(variant)
        assert footprint.key_bytes(three) == 3 * footprint.key_bytes(one)
        assert footprint.context_bytes(three) == 3 * footprint.context_bytes(one)


def test_a_point_beyond_the_budget_is_refused_with_its_memory() -> None:
    (item,) = planned(suite_of(memory_mb=512))
    assert item.status == "out_of_memory"
    assert item.reason == (
        "the server needs about 878 MB, of which evaluation keys take 726 MB; the budget allows 512 MB per party "
        "(memory_mb)"
    )
    made = plan.make(RUN, suite_of(memory_mb=512), [item])
    assert [(refused.status, made.trials) for refused in made.unsupported] == [("out_of_memory", [])]


def test_a_point_beyond_the_host_is_refused_with_its_memory() -> None:
    (item,) = planned(suite_of(), host_mb=1000)
    assert item.reason == "client and server need about 1,055 MB; the host has 1,000 MB"
    assert planned(suite_of(), host_mb=1100)[0].reason is None


def test_variants_that_do_not_fit_together_are_not_interleaved() -> None:
    """Each needs 0.9 GB at the server, OpenFHE as much at the client."""
    suite = suite_of(variants=["seal", "seal-hexl", "openfhe"])
    cases = planned(suite)

    def groups(host_mb: int | None) -> list[list[str]]:
        blocks = plan.make(RUN, suite, cases, host_mb).blocks
        return [
            [trial.case.variant for trial in item.trials]
            for block in blocks
            for item in block.comparison_groups
        ]

    assert sorted(map(len, groups(None))) == sorted(map(len, groups(8000))) == [3]
    assert sorted(map(len, groups(3000))) == [1, 2]
    assert sorted(map(len, groups(1500))) == [1, 1, 1]


@pytest.mark.parametrize(
    ("variant", "needed", "limit"),
    [("seal", "593.0 bits", 214), ("openfhe", "at least 591 bits", 214)],
)
def test_a_point_below_the_security_level_is_refused_with_its_bits(
    variant: str, needed: str, limit: int
) -> None:
    """N that the suite gives is not raised."""
    (item,) = planned(suite_of(variants=[variant], security={"bits": 128, "table": 2024}))
    assert item.status == "unsupported"
    assert item.reason is not None
    assert (needed in item.reason, str(limit) in item.reason) == (True, True), item.reason


def test_a_library_that_declares_no_footprint_is_not_refused() -> None:
    unknown = replace(registry.declaration("pyfhel"), footprint=None)
    suite = suite_of(variants=["pyfhel"], memory_mb=512)
    (item,) = plan.cases(suite, {"pyfhel": Availability(unknown)}, host_mb=512)
    assert (item.reason, item.party_mb) == (None, None)
