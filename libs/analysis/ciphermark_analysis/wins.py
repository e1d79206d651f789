"""Wins and ties: a win needs a significant difference from every other variant; the rest are ties. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ciphermark_analysis.estimates import Verdict

Standing = Literal["win", "tie", "behind", "alone", "disturbed"]


def standings(fastest: int, verdicts: Sequence[Verdict], is_disturbed: Sequence[bool]) -> list[Standing]:
    """Return the standing of each variant of a case, from its verdict against the ``fastest`` one (an index).

    The fastest wins where all others are significantly slower. Otherwise it ties with the variants that are not, even
    for lack of samples. A single variant is ``alone``. A variant with only disturbed samples is ``disturbed``, and
    others do not win against it.
    """
    others = [verdict for index, verdict in enumerate(verdicts) if index != fastest]
    first: Standing = "win" if all(verdict == "slower" for verdict in others) else "tie"
    if not others:
        first = "alone"

    def standing(index: int, verdict: Verdict) -> Standing:
        if is_disturbed[index]:
            return "disturbed"
        return first if index == fastest else "behind" if verdict == "slower" else "tie"

    return [standing(index, verdict) for index, verdict in enumerate(verdicts)]
