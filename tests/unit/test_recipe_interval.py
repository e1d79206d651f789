"""The recipe for an interval method, followed on a copy: one file beside its test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from copies import copied, touched

import ciphermark_analysis

PACKAGE = Path(ciphermark_analysis.__file__).parent
# The notches of McGill, Tukey and Larsen (The American Statistician 32, 1978): median ± 1.57 IQR / √n.
NOTCHES = '''def bounds(segments: Segments, is_sequential: Booleans) -> tuple[Floats, Floats]:
    """Notches, of two values or more."""
    quarter = np.maximum((segments.counts + 1) // 4, 1)
    low, high = segments.starts + quarter - 1, segments.starts + segments.counts - quarter
    half = 1.57 * (segments.values[high] - segments.values[low]) / np.sqrt(segments.counts)
    return segments.medians - half, segments.medians + half


'''
PROGRAM = """
import json, sys
sys.path.insert(0, sys.argv[1])
from ciphermark_analysis.stopping import half_width
from ciphermark_analysis.results import results
from ciphermark_analysis.ratios import ratios
from test_analysis_results import group, timed
rows = [(0, number, float(number + 1), 1.0, False) for number in range(8)]
groups = [group(1, rows), group(2, timed(2.0))]
(row, *_), (ratio, *_) = results(groups), ratios([groups], ["equal_security"])
print(json.dumps([row.method, row.ci_low, row.ci_high, row.uncorrected_ci_low, ratio.ci_low, half_width(range(1, 9))]))
"""


def computed(folder: Path) -> list[float]:
    """What results, ratios and rules for stopping make of eight samples."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    command = [sys.executable, "-c", PROGRAM, str(folder)]
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=120)
    numbers: list[float] = json.loads(answer.stdout)
    return numbers


def test_another_interval_is_one_file(tmp_path: Path) -> None:
    copy = copied(PACKAGE, tmp_path)
    shipped = computed(PACKAGE.parent)
    assert computed(tmp_path) == shipped
    text = (copy / "estimates.py").read_text()
    start, end = text.index("def bounds("), text.index("def rank(")
    changed = text[:start] + NOTCHES + text[end:]
    (copy / "estimates.py").write_text(
        changed.replace(f"METHOD = {shipped[0]}", f"METHOD = {shipped[0] + 1}")
    )
    assert touched(PACKAGE, copy) == {"estimates.py"}
    method, low, high, uncorrected, ratio, half_width = computed(tmp_path)
    half = 1.57 * (7 - 2) / 8**0.5
    assert (method, low, high, uncorrected) == (shipped[0] + 1, 4.5 - half, 4.5 + half, 4.5 - half)
    assert ratio != shipped[4]
    assert half_width == half / 4.5
