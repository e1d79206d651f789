"""Decryption noise (IND-CPA-D) that a library adds stands beside the result that pays for it, and beside no other."""

from __future__ import annotations

import pytest

from ciphermark_present.catalogue.noise import NOISE, REMAINING_BITS
from ciphermark_present.notes import with_additions
from ciphermark_present.query import Answer


@pytest.mark.parametrize(
    ("library", "meaning", "words"),
    [
        ("OpenFHE", "precision", "while decoding, OpenFHE adds noise"),
        ("HElib", "precision", "rawDecrypt"),
        ("OpenFHE", "noise budget", ""),
        ("SEAL", "precision", ""),
        ("unheard of", "precision", ""),
    ],
)
@pytest.mark.parametrize("figure", [REMAINING_BITS, NOISE])
def test_it_is_told_by_library_and_metric(figure, library, meaning, words):
    answer = Answer(("library", "meaning", "bits"), [(library, meaning, 20.0)])
    assert figure.derive is with_additions
    (row,) = with_additions(answer, {}).mappings
    assert (row["addition"] == "") == (words == "")
    assert words in row["addition"]
    assert "addition" in [column.name for column in figure.columns]
