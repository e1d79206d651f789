"""Words of earlier suites with their replacements, for errors about an old word."""

from __future__ import annotations

from collections.abc import Mapping

KEYS: Mapping[str, str] = {
    "division": "tuning",
    "sizes": "vector_length",
    "batch": "inputs_per_pass",
    "cap": "max_repetitions",
    "samples": "min_samples",
    "precision": "max_ci_half_width",
    "most_samples": "max_samples",
    "most_time_s": "max_time_s",
}
VALUES: Mapping[str, str] = {
    "equal": "matched",
    "best": "recommended",
    "smallest": "smallest-secure",
    "same": "constant",
    "chain": "repetition",
    "rotate_left": "rotate(1)",
    "rotate_right": "rotate(-1)",
}
