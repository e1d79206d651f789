"""The scale of the distribution of samples: what the browser would warn of is left out."""

from __future__ import annotations

import pytest

from ciphermark_present.catalogue.distribution import draw_distribution


@pytest.mark.parametrize(
    ("longest_s", "scale"), [(2e-3, {"zero": False, "nice": False}), (2e-2, {"type": "log", "nice": False})]
)
def test_a_logarithmic_scale_says_nothing_of_zero(longest_s, scale):
    times = [1e-3, 1.5e-3, longest_s]
    row = {"variant": "seal", "phase": "evaluate", "samples": 3, "times_s": times, "all_times_s": times}
    chart = draw_distribution([row])
    assert chart is not None
    assert f"'scale': {dict(sorted(scale.items()))}" in str(chart.to_dict())
