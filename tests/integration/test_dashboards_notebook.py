"""The notebook in docs/ works, over what is recorded here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest
from nbclient import NotebookClient
from processes import PATIENCE_S
from test_dashboards_pages import recorded_run

from ciphermark_db.database import Database

if TYPE_CHECKING:  # tests/unit has a module of that name, too
    from conftest import Maker

NOTEBOOK = Path(__file__).parents[2] / "docs" / "results" / "results.ipynb"


def test_the_notebook_reads_results(
    url: str, database: Database, make: Maker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run_id = recorded_run(make, database)
    monkeypatch.setenv("CIPHERMARK_DATABASE_URL", url)
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=PATIENCE_S, resources={"metadata": {"path": str(tmp_path)}}).execute()
    told = ["\n".join(str(output) for output in cell.get("outputs", [])) for cell in notebook.cells]
    whole = "\n".join(told)
    assert run_id in whole
    for word in ("seal-hexl", "unsupported", "faster", "mul"):
        assert word in whole
    (median,) = database.query(
        "select median * 1000 from results where run_id = %s and variant = 'seal' and operation = 'add' "
        "and phase = 'evaluate' and metric = 'time' and vector_length = 16 and data_pattern = 'constant'",
        [run_id],
    ).rows[0]
    assert f"{median:.1f}" in whole
