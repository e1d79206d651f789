"""A report in a browser: axe finds nothing that keeps somebody from reading it, on a screen or on a telephone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright
from processes import PATIENCE_S

PROGRAM = Path(sys.executable).parent / "ciphermark"
CHROMIUM = shutil.which("chromium")

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium here: `make setup` installs it where it can"
)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a run with something for every page."""
    folder = tmp_path_factory.mktemp("report")
    kept = {name: text for name, text in os.environ.items() if not name.startswith("CIPHERMARK_")}
    environment = kept | {"CIPHERMARK_HOME": str(folder / "home")}
    path = folder / "report.html"
    archive = Path(__file__).with_name("every-page.jsonl.xz")
    try:
        for arguments in (
            ("runs", "import", str(archive)),
            ("report", "last", "-o", str(path)),
        ):
            subprocess.run([PROGRAM, *arguments], env=environment, check=True, timeout=PATIENCE_S)
    finally:
        subprocess.run([PROGRAM, "db", "stop"], env=environment, check=False, timeout=PATIENCE_S)
    return path


@pytest.mark.parametrize("width", [360, pytest.param(1200, marks=pytest.mark.extended)])
def test_a_report_is_for_everyone(report: Path, width: int) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto(report.as_uri(), timeout=1000 * PATIENCE_S)
        found = Axe().run(page).response["violations"]
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        browser.close()
    grave = [item for item in found if item["impact"] in ("serious", "critical")]
    assert [f"{item['id']}: {item['nodes'][0]['html'][:200]}" for item in grave] == []
    assert wide == 0
