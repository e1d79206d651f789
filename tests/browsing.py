"""Chromium, which tests of pages and reports look with."""

from __future__ import annotations

import shutil

import pytest
from playwright.sync_api import Browser, Playwright

_CHROMIUM = shutil.which("chromium")
needs_chromium = pytest.mark.skipif(
    _CHROMIUM is None, reason="no Chromium here: `make setup` installs it where it can"
)


def chromium(playwright: Playwright) -> Browser:
    """A browser that looks for nothing by itself."""
    options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    return playwright.chromium.launch(executable_path=_CHROMIUM, args=options)
