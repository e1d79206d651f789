"""Draws docs/pictures/quick.svg and overview.png: what the terminal and the dashboard show of reference results.

``python docs/pictures/results.py`` imports ``reference/quick.jsonl.xz`` into a data directory of its own, which it
takes away again. It needs Chromium.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from urllib.request import urlopen

from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.text import Text

from ciphermark_db import embedded

FOLDER = Path(__file__).parent
ARCHIVE = FOLDER.parents[1] / "reference" / "quick.jsonl.xz"
PROGRAMS = Path(sys.executable).parent
COLUMNS = 100
# The tables that are shown, of those of all parameters, data and tunings.
SHOWN = ("BFV, N = 8192", "CKKS, N = 8192")
ABOUT = re.compile(r"^Evaluation time, \d+ random values[^,]*, 1 thread$", re.MULTILINE)
PAGE = "/?for=mul&scheme=ckks"
WIDTH = 1400
PATIENCE_S = 60


def told(data_directory: Path, *arguments: str) -> str:
    """What a command prints."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith("CIPHERMARK_")}
    variables = environment | {"CIPHERMARK_DATA": str(data_directory), "COLUMNS": str(COLUMNS)}
    command = [PROGRAMS / "ciphermark", *arguments]
    return subprocess.run(command, env=variables, check=True, capture_output=True, text=True).stdout


def terminal(data_directory: Path) -> str:
    """The tables at one N, and the summary without its heading and its last line."""
    blocks = told(data_directory, "results", "last").split("\n\n")
    tables = [block for block in blocks if block.startswith(SHOWN) and ABOUT.search(block)]
    _, *summary, _ = told(data_directory, "summary", "last").strip().split("\n\n")
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    text = Text("\n\n".join([*tables, *summary]))
    text.highlight_regex(r"(?m)^(BFV|CKKS), N = .*$|^(Fastest variants|HEXL speedup|Highlights)$", "bold")
    console.print(text)
    drawn = console.export_svg(title="ciphermark run quick", unique_id="quick")
    return re.sub(r"\n *@font-face \{[^}]*\}", "", drawn)  # a picture asks no other machine for a font


@contextmanager
def dashboard(data_directory: Path) -> Iterator[str]:
    """The address of a dashboard over a data directory."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    variables = {
        "CIPHERMARK_DATABASE_URL": embedded.ensure_started(data_directory),
        "CIPHERMARK_PORT": str(port),
    }
    variables["CIPHERMARK_LOG_LEVEL"] = "warning"
    process = subprocess.Popen([PROGRAMS / "ciphermark-dashboard"], env=os.environ | variables)
    url, deadline_s = f"http://127.0.0.1:{port}", monotonic() + PATIENCE_S
    try:
        while not _is_ready(url):
            if monotonic() > deadline_s:
                raise TimeoutError(url)
            sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait()


def _is_ready(url: str) -> bool:
    try:
        return bool(urlopen(f"{url}/readyz").status == 200)
    except OSError:
        return False


def photograph(url: str, picture: Path) -> None:
    """The whole page."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": WIDTH, "height": 900})
        page.goto(url, wait_until="networkidle")
        page.locator("form.question").wait_for()
        page.screenshot(path=picture, full_page=True)
        browser.close()


def main() -> None:
    """Draw both."""
    with tempfile.TemporaryDirectory() as folder:
        data_directory = Path(folder) / "data_directory"
        try:
            told(data_directory, "runs", "import", str(ARCHIVE))
            (FOLDER / "quick.svg").write_text(terminal(data_directory), encoding="utf-8")
            with dashboard(data_directory) as url:
                photograph(f"{url}{PAGE}", FOLDER / "overview.png")
        finally:
            embedded.stop(data_directory)


if __name__ == "__main__":
    main()
