"""Stores the outputs of results.ipynb, which it executes on the reference run of the suite quick.

``python docs/results/notebook.py`` imports ``reference/quick.jsonl.xz`` into a data directory of its own, which it
removes afterwards.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

PATH = Path(__file__).with_name("results.ipynb")
ARCHIVE = PATH.parents[2] / "reference" / "quick.jsonl.xz"
PROGRAM = Path(sys.executable).with_name("ciphermark")
TIMEOUT_S = 300


def executed(url: str, folder: Path) -> Any:
    """The notebook with its outputs, executed in a folder on the latest run of a database."""
    notebook = nbformat.read(PATH, as_version=4)
    os.environ["CIPHERMARK_DATABASE_URL"] = url
    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(notebook, timeout=TIMEOUT_S, resources=resources, record_timing=False)
    client.execute()
    notebook.metadata.language_info = {"name": "python"}
    return notebook


def texts(notebook: Any) -> list[str]:
    """The outputs of cells as text; a picture as its kind, since its bytes depend on the installed fonts."""
    return [_text(output) for cell in notebook.cells for output in cell.get("outputs", [])]


def _text(output: Any) -> str:
    data = output.get("data", {})
    pictures = sorted(kind for kind in data if kind.startswith("image/"))
    return pictures[0] if pictures else str(data.get("text/plain", output.get("text", output)))


def main() -> None:
    """Write the notebook with its outputs."""
    folder = Path(tempfile.mkdtemp())
    environment = {name: text for name, text in os.environ.items() if not name.startswith("CIPHERMARK_")}
    environment["CIPHERMARK_DATA"] = str(folder)

    def told(*arguments: str | Path) -> str:
        return subprocess.run(
            [PROGRAM, *arguments], env=environment, check=True, capture_output=True, text=True
        ).stdout

    try:
        told("runs", "import", ARCHIVE)
        nbformat.write(executed(told("db", "url").strip(), folder), PATH)
    finally:
        told("db", "stop")
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
