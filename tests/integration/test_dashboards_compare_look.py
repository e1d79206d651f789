"""Compare in Chromium: changes and a history on a phone and on a desk, and choices that apply at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from browsing import chromium, needs_chromium
from looking import access_faults, drawn, layout_faults, opened
from playwright.sync_api import Page, expect, sync_playwright
from processes import PATIENCE_S
from test_dashboards_look import served
from test_dashboards_pages import recorded_run

from ciphermark_db.database import Database

if TYPE_CHECKING:  # tests/unit has a module of that name, too
    from conftest import Maker

pytestmark = needs_chromium
WIDTHS = (390, 1400)


@pytest.fixture(scope="module")
def runs(new_url: Callable[[], str], make: Maker) -> tuple[str, list[str]]:
    """URL of a database with four runs of one suite, of which the third is slower, and their ids."""
    url = new_url()
    with Database.open(url) as database:
        ids = [recorded_run(make, database, slower, ["seal"]) for slower in (1.0, 1.0, 2.0, 1.0)]
    return url, ids


@pytest.fixture(scope="module")
def page(runs: tuple[str, list[str]]) -> Iterator[Page]:
    with served(runs[0]) as site, sync_playwright() as playwright:
        browser = chromium(playwright)
        made = browser.new_context(base_url=site, color_scheme="dark").new_page()
        made.set_default_timeout(PATIENCE_S * 1000)
        yield made
        browser.close()


@pytest.mark.parametrize("place", ["/compare?a={0}&b={2}", "/runs/{2}"])
def test_pages_about_runs_fit_every_screen_and_everybody(
    page: Page, runs: tuple[str, list[str]], place: str
) -> None:
    opened(page, place.format(*runs[1]), WIDTHS[0])
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        drawn(page)
        assert layout_faults(page, width) == [], width
    assert access_faults(page, is_brief=True) == []


def test_choices_of_compare_apply_at_once_and_marks_lead_to_cases(
    page: Page, runs: tuple[str, list[str]]
) -> None:
    first, _, slower, _ = runs[1]
    opened(page, "/compare", 1400)
    expect(page.locator("h1")).to_contain_text("None of")  # seal is as fast again
    page.get_by_label("Run A").select_option(first)
    page.get_by_label("Run B").select_option(slower)
    page.wait_for_url(f"**b={slower}**")
    expect(page.locator(".pill")).to_contain_text("regression")
    expect(page.locator("h1")).to_contain_text("slower")
    page.get_by_text("More filters").click()
    page.get_by_label("Threshold").select_option("50%")
    page.wait_for_url("**threshold=50%25**")
    expect(page.get_by_text("More filters (1 set)")).to_be_visible()
    page.get_by_label("Case", exact=True).select_option(index=1)
    page.wait_for_url("**case=**")
    expect(page.locator("figure")).not_to_have_count(0)
    mark = page.locator("figure svg.wide a").first
    mark.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/case?**")
