"""The terminal's tables of workloads: what a stage has as a whole, and where its time goes."""

from __future__ import annotations

from ciphermark_present import listing
from ciphermark_present.catalogue import workloads
from ciphermark_present.catalogue.columns import UNLIKE
from ciphermark_present.printed import Wanted


def row(part="", metric="time", median=1.0, ring=8192, variant="seal", **changes):
    made = {
        "experiment": "micro",
        "operation": "product",
        "options": "side 4",
        "data_set": None,
        "vector_length": 1,
        "threads": 1,
        "scheme": "ckks",
        "variant": variant,
        "ring_dimension": ring,
        "modulus_bits": [60, 40, 60],
        "log_qp": 160.0,
        "security_2018": 128,
        "security_2024": 128,
        "stage": "compute",
        "part": part,
        "metric": metric,
        "unit": {"time": "s", "peak_memory": "bytes"}[metric],
        "n": 6,
        "median": median,
        "ci_low": 0.9 * median,
        "ci_high": 1.1 * median,
        "case_key": f"{variant}/{ring}",
        "comparison_group": str(ring),
    }
    return made | changes


def test_builds_without_hexl_and_other_kinds_of_encryption_are_marked():
    secret = {"encryption": "secret key", "variant": "seal-hexl", "hexl": True}
    public = {"encryption": "public key", "hexl": False}
    whole, parts = tables(
        *(row(**each) for each in (secret, public)),
        *(row("encrypt", median=0.2, **each) for each in (secret, public)),
        *(row("evaluate", median=0.1, **each) for each in (secret, public)),
    )
    assert [cells[2:5] for cells in whole.rows] == [
        ("seal-hexl", "secret key", "1 s†"),
        ("seal°", "public key", "1 s"),
    ]
    assert [head.text for head in parts.heads[2:]] == ["seal-hexl", "seal°"]
    assert [cells[2:] for cells in parts.rows] == [("200 ms†", "200 ms"), ("100 ms", "100 ms")]
    assert whole.legend == ("° built without HEXL", UNLIKE)
    assert "°" not in parts.about  # once is enough
    alike, _ = tables(*(row(part, **secret, median=1.0) for part in ("", "encrypt")))
    assert "†" not in alike.rows[0][3] + alike.about


def tables(*rows):
    return listing.tables(
        workloads.WORKLOADS, workloads.LAYOUT, [rows], Wanted(titles={"product": "a product"})
    )


def test_what_has_no_value_of_the_whole_stage_is_told_by_party():
    (whole,) = tables(row(), row("server", "peak_memory", 8e7), row("client", "peak_memory", 4e7))
    assert whole.title == "product: a product, micro"
    assert [cells[:4] for cells in whole.rows] == [
        ("compute", "time", "seal", "1 s"),
        ("compute", "peak memory, server", "seal", "80 MB"),
        ("compute", "peak memory, client", "seal", "40 MB"),
    ]


def test_parts_are_told_the_longest_first_with_a_column_per_variant():
    _, parts = tables(
        row(),
        row("client", median=0.2),
        row("server", median=0.5),
        row("client", median=0.7, variant="pyfhel"),
        row("keygen", median=0.1, stage="prepare"),
    )
    assert [head.text for head in parts.heads] == ["stage", "part", "seal", "pyfhel"]
    assert parts.rows == (
        ("compute", "client", "200 ms", "700 ms"),
        ("", "server", "500 ms", ""),
        ("prepare", "keygen", "100 ms", ""),
    )


def test_several_cases_of_a_variant_are_told_by_their_rings():
    _, parts = tables(row(), row("client", median=0.2), row("client", median=0.4, ring=16384))
    assert [head.text for head in parts.heads] == ["stage", "part", "seal 8192", "seal 16384"]
    assert parts.rows == (("compute", "client", "200 ms", "400 ms"),)
