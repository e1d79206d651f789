"""What is printed of the archives in ``reference/``, whole (see ``tests/golden.py``)."""

from __future__ import annotations

from pathlib import Path

import golden
import pytest
from command import Ciphermark

ARCHIVES = ("quick", "tenseal-ml", "pir-report")
OUTPUTS = {
    **{f"results-{name}.txt": ("results", f"last:{name}") for name in ARCHIVES},
    **{f"summary-{name}.txt": ("summary", f"last:{name}") for name in ARCHIVES},
    "results-quick-details.txt": ("results", "last:quick", "--details", "--notes"),
    "results-quick-encrypt.txt": ("results", "last:quick", "--phase", "encrypt", "--across-security-levels"),
    "results-quick-published.txt": ("results", "last:quick", "--published"),
    "results-tenseal-ml-details.md": ("results", "last:tenseal-ml", "--details", "--format", "md"),
    "results-quick.tex": ("results", "last:quick", "--format", "latex"),
    "figures.txt": ("figure",),
}


@pytest.fixture(scope="module")
def imported(tmp_path_factory, reference) -> Ciphermark:
    """The command line where the archives are imported, in a terminal of 100 columns."""
    return Ciphermark(tmp_path_factory.mktemp("golden"), reference(*ARCHIVES), {"COLUMNS": "100"})


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_is_as_it_was(imported: Ciphermark, name: str) -> None:
    golden.compare(name, imported(*OUTPUTS[name]).out)


def test_a_report_is_as_it_was(imported: Ciphermark, tmp_path: Path) -> None:
    path = tmp_path / "report.md"
    done = imported("report", "last:quick", "-o", str(path))
    assert (done.out, done.err.strip()) == ("", f"report: {path}")
    golden.compare("report-quick.md", path.read_text(encoding="utf-8"))
