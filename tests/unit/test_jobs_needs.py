"""Needs and offers, and the queues that needs name."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ciphermark_adapters import registry
from ciphermark_benchmark.api.runs import why_it_waits
from ciphermark_benchmark.jobs.needs import Needs, Offer, needs_of, offer_of
from ciphermark_benchmark.suite import files
from ciphermark_core import host

OFFER = Offer("alpha", "f00d", "CPU", ("cleartext", "seal"), ("avx2", "avx512f"), 1000)


def suite(variants: list[str], ring: int = 1024, **budget: int):
    experiment = {"kind": "arithmetic", "variants": variants, "schemes": ["bfv"], "ring_dimension": [ring]}
    text = {"name": "x", "budget": budget, "experiments": [experiment]}
    return files.parse(json.dumps(text), "test")


def test_labels_are_no_variants_of_their_own() -> None:
    assert needs_of(suite(["seal", "seal@again", "cleartext"])).variants == ("cleartext", "seal")


def test_only_chosen_variants_are_needed() -> None:
    chosen = needs_of(suite(["seal", "cleartext"]), ["cleartext"])
    assert (chosen.variants, chosen.are_chosen) == (("cleartext",), True)
    assert not needs_of(suite(["seal"])).are_chosen


def test_memory_is_that_of_the_largest_case() -> None:
    """And not the limit of the budget, which is larger; a chosen variant counts alone."""
    small, large = (needs_of(suite(["seal"], ring=ring)).memory_mb for ring in (4096, 16384))
    assert 100 < small < large < 1000
    assert needs_of(suite(["seal"], ring=4096, memory_mb=9000)).memory_mb == small
    assert needs_of(suite(["seal"], ring=4096), memory_mb=700).memory_mb == 700
    both = suite(["seal", "openfhe"], ring=16384)
    assert needs_of(both, ["seal"]).memory_mb == large


def test_memory_that_no_library_declares_is_that_of_the_budget() -> None:
    assert registry.declaration("cleartext").footprint is None
    assert needs_of(suite(["cleartext"])).memory_mb == 0
    assert needs_of(suite(["cleartext"], memory_mb=500)).memory_mb == 500


def test_a_case_that_fits_no_host_needs_none() -> None:
    """A workload of parties of 0.6 GB: where no host can have both, its case is refused, and the job needs the rest."""
    workload = {
        "kind": "micro",
        "variants": ["seal"],
        "workloads": ["matrix-product-published"],
        "security": "none",
    }
    text = {"name": "x", "experiments": [workload | {"options": {"levels": [10]}, "ring_dimension": [8192]}]}
    large = files.parse(json.dumps(text), "test")
    assert needs_of(large).memory_mb > OFFER.memory_mb
    assert needs_of(large, offers=[OFFER]).memory_mb == 0
    assert needs_of(large, offers=[OFFER, replace(OFFER, memory_mb=1 << 15)]) == needs_of(large)


def test_equal_needs_have_one_queue() -> None:
    first = needs_of(suite(["seal", "cleartext"]), isa=["b", "a"])
    assert first.queue == needs_of(suite(["cleartext", "seal"]), isa=["a", "b", "a"]).queue
    others = [Needs(), Needs(("seal",)), Needs((), ("seal",)), Needs((), (), 1), Needs(are_chosen=True)]
    assert len({needs.queue for needs in others}) == len(others)
    assert all(len(needs.queue) <= 128 for needs in others)


@pytest.mark.parametrize(
    ("needs", "lacking"),
    [
        (Needs(), []),
        (Needs(("seal",), ("avx2",), 1000), []),
        (Needs(("openfhe",)), ["variant openfhe"]),
        (Needs((), ("amx",), 1001), ["CPU flag amx", "1001 MB of memory"]),
    ],
)
def test_what_a_host_lacks(needs: Needs, lacking: list[str]) -> None:
    assert OFFER.lacks(needs) == lacking


def test_why_a_run_waits() -> None:
    assert "no benchmark worker" in why_it_waits(Needs(), [])
    assert why_it_waits(Needs(("seal",)), [OFFER]) == "its turn"
    told = why_it_waits(Needs(("openfhe",), are_chosen=True), [OFFER])
    assert told == "a host that meets its needs: alpha lacks variant openfhe"
    assert why_it_waits(Needs(("openfhe",)), [OFFER]) == "its turn"
    standby = replace(OFFER, hostname="beta", waits_for="the machine, which another worker has")
    assert why_it_waits(Needs(), [OFFER, standby]) == "its turn"
    assert why_it_waits(Needs(), [standby]) == "beta, which waits for the machine, which another worker has"


@pytest.mark.parametrize(
    ("needs", "left"),
    [
        (Needs(("openfhe", "seal")), ("seal",)),
        (Needs(("openfhe", "tenseal")), ("tenseal",)),
        (Needs(("openfhe", "seal"), are_chosen=True), ("openfhe", "seal")),
    ],
)
def test_a_variant_that_nobody_has_is_waited_for_where_it_was_chosen(
    needs: Needs, left: tuple[str, ...]
) -> None:
    other = replace(OFFER, hostname="beta", variants=("cleartext", "tenseal"))
    assert needs.among([OFFER, other]).variants == left


def test_this_host_offers_what_is_installed() -> None:
    facts = host.collect()
    offer = offer_of(facts)
    assert "cleartext" in offer.variants
    assert offer.memory_mb == facts.memory_bytes >> 20
