"""The page of a run: how many cases have results, in a sentence."""

from __future__ import annotations

import pytest

from ciphermark_dashboards.recorded_run import headline


def library(variant: str, ok: int, unsupported: int = 0, failed: int = 0) -> dict[str, object]:
    return {"variant": variant, "ok": ok, "unsupported": unsupported, "failed": failed}


@pytest.mark.parametrize(
    ("libraries", "sentence"),
    [
        ([library("seal", 12)], "quick measured all 12 cases with 1 library."),
        (
            [library("seal", 12, 1), library("tenseal", 9, 3, 2)],
            "quick measured 21 of 27 cases with 2 libraries; 4 unsupported, 2 failed.",
        ),
        ([library("seal", 0, 0, 3)], "quick measured 0 of 3 cases with 1 library; 3 failed."),
        ([], "quick has no results yet."),
    ],
)
def test_the_headline_counts_cases(libraries: list[dict[str, object]], sentence: str) -> None:
    assert headline("quick", libraries) == sentence
