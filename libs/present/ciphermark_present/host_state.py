"""The host's state, as far as readers of results must know it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ciphermark_present.formats import seconds
from ciphermark_present.query import Row

_MAX_NAMED = 8  # results
_UNDISTURBED = 0.9  # the share of samples from which a host counts as undisturbed


def word(rows: Sequence[Row]) -> str:
    """A run's rows of the view ``host_states`` in one word: *undisturbed* where at least 90% of the timed samples are
    undisturbed and each result has some of them, else *noisy*; *unwatched* without interference data.
    """
    if not any(row["watched_trials"] for row in rows):
        return "unwatched"
    is_calm = all(
        (row["undisturbed_share"] or 0) >= _UNDISTURBED and not row["disturbed_phases"] for row in rows
    )
    return "undisturbed" if is_calm else "noisy"


def told(row: Row) -> Iterator[str]:
    """A run's row of the view ``host_state`` in sentences: always the share of undisturbed samples, and a warning about
    each source of measurement error.
    """
    if not row["watched_trials"]:
        yield "Warning: no interference data; times may include the load of other processes"
        return
    samples = f"{_share(row['undisturbed_share'])} of {row['timed_samples']:,} samples undisturbed"
    yield f"Host interference: {samples}; {_corrected(row)}"
    yield (
        f"Reference kernel {seconds(row['reference_kernel_s'])}, up to {_share(row['reference_kernel_spread'])} "
        f"slower; run-queue delay {_known(row['run_delay_share'])}, steal time {_known(row['steal_share'])}"
    )
    timed = row["timed_trials"]
    if row["watched_trials"] < timed:
        missing = timed - row["watched_trials"]
        yield f"Warning: {missing} of {timed} trials {'has' if missing == 1 else 'have'} no interference data"
    if row["short_trials"]:
        yield (
            f"Warning: {_trials(row['short_trials'])} ended at the limit with fewer undisturbed samples than "
            "requested; intervals are wider"
        )
    if row["disturbed_phases"]:
        names = row["disturbed_results"]
        more = len(names) - _MAX_NAMED
        some = "; ".join(names[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
        yield (
            f"Warning: {_results(row['disturbed_phases'])} only disturbed samples and cannot be fastest "
            f"(undisturbed_share is 0): {some}"
        )


def unlike_corrections(a: Sequence[Row], b: Sequence[Row]) -> str | None:
    """A warning where the times of two runs, or of one of them, were corrected by different rules
    (docs/decisions/0045). ``None`` where all were corrected by one rule, or a run has no interference data. ``a`` and
    ``b`` are each run's rows of the view ``host_state``.
    """
    of_a, of_b = _gains(a), _gains(b)
    if not of_a or not of_b or len(of_a | of_b) == 1:
        return None
    return (
        f"Warning: the runs correct disturbed times by different rules (A: {_rule(of_a)}; B: {_rule(of_b)}); ratios of "
        "such times are less exact"
    )


def _gains(rows: Sequence[Row]) -> set[float]:
    return {gain for row in rows for gain in row["reference_kernel_gains"] or ()}


def _rule(gains: set[float]) -> str:
    """The factor on the reference kernel's slowdown by which times were corrected; 0 stands for no correction."""
    factors = " or ".join(f"{gain:g}×" for gain in sorted(gains) if gain)
    rules = ["not at all"] * (0 in gains) + [f"{factors} the reference kernel's slowdown"] * bool(factors)
    return " or ".join(rules)


def _corrected(row: Row) -> str:
    """The treatment of the disturbed samples: runs of older versions ignore them."""
    if row.get("is_uncorrected"):
        return "times are not corrected"
    slowdown = row["slowdown"]
    if slowdown is None:
        return "times are of these samples"
    return f"mean slowdown {slowdown:.2f}×, corrected"


def _known(share: float | None) -> str:
    return "unknown" if share is None else _share(share)


def _share(value: float) -> str:
    return f"{value:.1%}"


def _trials(count: int) -> str:
    return "1 trial" if count == 1 else f"{count} trials"


def _results(count: int) -> str:
    return "1 result has" if count == 1 else f"{count} results have"
