"""Ratios of times of variants that were measured with the same workload and parameters, sample by sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ciphermark_analysis.samples import Group

Kind = Literal["equal_security", "any_security", "hexl"]
Standing = Literal["win", "tie", "behind", "alone"]
Verdict = Literal["faster", "slower", "no difference", "too few samples"]


@dataclass(frozen=True, slots=True)
class Ratio:
    """Time of a group by that of a base group, at one place and number of repetitions; a row of the table ``ratio``.

    ``kind`` ``equal_security`` and ``any_security``: the base is the fastest group by its median, of one security level
    or of all, and ``verdict`` is about the group. ``hexl``: the base is the same library with HEXL, the group without,
    and ``verdict`` is about the base; ``rank`` and ``standing`` are ``None``.

    ``median`` is that of the group. ``is_paired``: ratios of samples of one round, ``n`` of them; otherwise the ratio of
    two medians, and ``n`` the smaller number of samples. ``undisturbed_share`` (of pairs) is ``None`` where the host was
    not observed or nothing is paired.

    Names with ``uncorrected_`` are what the same statistics are without correction, with a base of their own: the
    fastest by its uncorrected median.
    """

    kind: Kind
    group: int
    stage: str
    party: str | None
    step: str | None
    repetitions: int | None
    base: int
    rank: int | None
    standing: Standing | None
    median: float
    n: int
    ratio: float | None
    ci_low: float | None
    ci_high: float | None
    verdict: Verdict
    is_paired: bool
    undisturbed_share: float | None
    uncorrected_base: int
    uncorrected_rank: int | None
    uncorrected_standing: Standing | None
    uncorrected_median: float
    uncorrected_n: int
    uncorrected_ratio: float | None
    uncorrected_ci_low: float | None
    uncorrected_ci_high: float | None
    uncorrected_verdict: Verdict
    uncorrected_is_paired: bool
    method: int


def ratios(groups: Sequence[Group], kind: Kind) -> list[Ratio]:
    """The ratios of the groups of one comparison (equal ``comparison_key``) in one run.

    Groups that did not end ``ok`` and reference libraries are left out. A group that is compared with nobody else has
    ratio 1 to itself and the standing ``alone``.
    """
    raise NotImplementedError
