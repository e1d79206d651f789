"""What a reader of a page meets, as Chromium lays it out: the first result, words before it, cut or tiny parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

WIDTHS = (360, 390, 768, 1024, 1400)
PHONE = 390  # at most
# Pixels from the top within which the first result has begun.
LIMITS = {390: 600, 1400: 450}
MAX_WORDS = 60
LEAST_TARGET_PX, LEAST_FONT_PX = 44, 12
_FAULTS = Path(__file__).with_suffix(".js").read_text()


def drawn(page: Page) -> None:
    """Wait until all charts are drawn at the screen's width."""
    page.wait_for_function(
        "() => !document.documentElement.dataset.busy"
        " && !document.querySelector('[data-specification]:not(:has(svg))')"
    )


def on_screen(page: Page) -> str:
    """The texts that are on the screen, without scrolling, and the names of what is drawn there."""
    text: str = page.evaluate(
        """() => {
            const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
            while (texts.nextNode()) {
                const item = texts.currentNode.parentElement;
                if (item.closest("script, style") || !item.checkVisibility({visibilityProperty: true})) continue;
                const box = (item.tagName === "OPTION" ? item.parentElement : item).getBoundingClientRect();
                if (item.tagName === "OPTION" && !item.selected) continue;
                if (box.height && box.top >= 0 && box.bottom <= innerHeight) found.push(texts.currentNode.data);
            }
            return found.join(" ");
        }"""
    )
    return " ".join(text.split())


def opened(page: Page, address: str, width: int, height: int = 900) -> None:
    """Open an address at a width, with all its charts."""
    page.set_viewport_size({"width": width, "height": height})
    page.goto(address)
    drawn(page)


def layout_faults(page: Page, width: int) -> list[str]:
    """What breaks the rules of pages in the page as it is laid out now."""
    rules = {
        "width": width,
        "limit": LIMITS.get(width, 0),
        "maxWords": MAX_WORDS,
        "leastTarget": LEAST_TARGET_PX,
        "leastFont": LEAST_FONT_PX,
        "isPhone": width <= PHONE,
    }
    found: list[str] = page.evaluate(_FAULTS, rules)
    return found


def access_faults(page: Page, is_brief: bool = False) -> list[str]:
    """What axe finds; briefly, without marks of charts and most rows of tables, which are alike and take most of its
    time.
    """
    if is_brief:
        page.evaluate(
            "document.querySelectorAll('.chart svg > *, tbody tr:nth-child(n+4)').forEach(item => item.remove())"
        )
    found: list[dict[str, Any]] = (
        Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    )
    return [
        f"{item['id']} ({item['impact']}): {item['help']}: {item['nodes'][0]['target']}, {len(item['nodes'])} in all"
        for item in found
    ]
