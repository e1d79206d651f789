"""Statistics of measurements: which samples count, medians, intervals, ratios, ranks, wins and comparisons of runs.

Everything is pure: arrays and dataclasses in, dataclasses out. Storage keeps the rows with the version of their method;
views join and filter them.
"""

from ciphermark_analysis.estimates import METHOD

__all__ = ["METHOD"]
