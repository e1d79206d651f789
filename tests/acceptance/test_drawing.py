"""A digit that a visitor draws: through the browser, the dashboard and the three other services."""

from __future__ import annotations

import fcntl
import struct
import zlib
from collections.abc import Iterator

import httpx
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from browsing import chromium, needs_chromium
from playwright.sync_api import Page, expect, sync_playwright
from processes import PATIENCE_S, wait_until
from serving import Serving, free_ports

from ciphermark_db import embedded
from ciphermark_workloads.inference.networks import stored

PATIENCE_MS = 180_000  # of the browser, on a machine that is busy with other tests
SEVEN = ((80, 60), (200, 60), (130, 235))

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    home = tmp_path_factory.mktemp("drawing") / "home"
    made = Serving(home, free_ports())
    try:
        made.wait_until_serving()
        yield made
        made.end()
        assert all("Traceback" not in log.read_text() for log in (home / "logs").glob("*.log"))
    finally:
        if made.process.poll() is None:
            made.end()
        embedded.stop(home)


@pytest.fixture
def page(serving: Serving) -> Iterator[Page]:
    """The page, whose browser may complain of nothing."""
    complaints: list[str] = []
    with sync_playwright() as playwright:
        browser = chromium(playwright)
        context = browser.new_context(base_url=f"http://127.0.0.1:{serving.ports['dashboard']}")
        context.set_default_timeout(PATIENCE_MS)
        expect.set_options(timeout=PATIENCE_MS)
        context.request.get(f"/login?token={serving.token('dashboard')}")
        found = context.new_page()
        found.on("console", lambda message: complaints.append(message.text))
        found.on("pageerror", lambda error: complaints.append(str(error)))
        found.goto("/draw")
        yield found
        browser.close()
    assert complaints == []


def draw(page: Page, points: tuple[tuple[int, int], ...]) -> None:
    box = page.locator("#pad").bounding_box()
    assert box is not None
    for number, (x, y) in enumerate(points):
        page.mouse.move(box["x"] + x, box["y"] + y, steps=8)
        if number == 0:
            page.mouse.down()
    page.mouse.up()


def png(pixels: np.ndarray) -> bytes:
    """A grey picture (rows, columns) of values from 0 to 255."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + row.astype(np.uint8).tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 0, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def test_a_drawn_digit_is_classified_and_both_parties_are_told_of(serving: Serving, page: Page) -> None:
    draw(page, SEVEN)
    page.get_by_label("Library").select_option("seal")
    page.get_by_role("button", name="Classify").click()
    expect(page.locator("#answer")).to_have_text("It says 7")
    expect(page.locator("main")).to_contain_text("So does the network in the clear.")
    expect(page.get_by_label("Library")).to_have_value("seal")
    told = page.get_by_role("region", name="Steps").locator("tbody tr").all_inner_texts()
    assert any(row.startswith("client") and "encrypts" in row for row in told)
    assert any(row.startswith("server") and "on ciphertexts" in row for row in told)
    assert not any(row.startswith("server") and ("decrypts" in row or "keys" in row) for row in told)
    sent = page.get_by_role("region", name="What was sent").locator("tbody tr").all_inner_texts()
    assert [row.split("\t")[1] for row in sent] == ["server", "server", "client"]
    for width in (360, 1200):
        page.set_viewport_size({"width": width, "height": 900})
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide == 0, width
    found = Axe().run(page).response["violations"]
    assert [item["id"] for item in found if item["impact"] in ("serious", "critical")] == []
    # The key was the session's, and the session is over.
    for name in ("client", "server"):
        wait_until(lambda name=name: asked(serving, name, "GET", "/v1/sessions").json() == [], "it is over")


@pytest.mark.extended
@pytest.mark.parametrize("is_dark", [False, True], ids=["ink on paper", "light on dark"])
def test_a_picture_is_classified(page: Page, is_dark: bool) -> None:
    """One of the images that are shipped, as a picture: of those whose class the network is surest of."""
    shipped = stored.shipped("lola-mnist")
    logits = np.sort(shipped.network.logits(shipped.images), axis=1)
    number = int(np.argmax(logits[:, -1] - logits[:, -2]))
    ink = np.round(255 * shipped.images[number])
    picture = {"name": "digit.png", "mimeType": "image/png", "buffer": png(ink if is_dark else 255 - ink)}
    page.get_by_label("Or a picture of one").set_input_files([picture])  # type: ignore[list-item]
    # It is on the pad when the pad has ink.
    page.wait_for_function(
        "document.getElementById('pad').getContext('2d').getImageData(0, 0, 280, 280).data.some(value => value > 0)"
    )
    page.get_by_role("button", name="Classify").click()
    expect(page.locator("#answer")).to_have_text(f"It says {shipped.labels[number]}")


def test_nothing_drawn_is_nothing_sent(page: Page) -> None:
    page.get_by_role("button", name="Classify").click()
    expect(page.get_by_role("status")).to_have_text("Draw a digit first.")
    draw(page, SEVEN)
    page.get_by_role("button", name="Clear").click()
    page.get_by_role("button", name="Classify").click()
    expect(page.get_by_role("status")).to_have_text("Draw a digit first.")
    assert page.locator("#answer").count() == 0


def asked(serving: Serving, name: str, method: str, path: str, **more: object) -> httpx.Response:
    headers = {"Authorization": f"Bearer {serving.token(name)}"}
    url = f"http://127.0.0.1:{serving.ports[name]}{path}"
    return httpx.request(method, url, headers=headers, timeout=PATIENCE_S, **more)  # type: ignore[arg-type]


def refused(serving: Serving, status: int, **body: object) -> str:
    answer = asked(serving, "benchmark", "POST", "/v1/predictions", json={"variant": "seal", **body})
    assert answer.status_code == status, answer.text
    return str(answer.json()["detail"])


def test_what_cannot_be_classified_is_refused_with_the_reason(serving: Serving) -> None:
    empty = [0.0] * 784
    assert "28 × 28 pixels, 784 numbers row by row, and not 783" in refused(serving, 422, pixels=empty[1:])
    assert "less than or equal to 1" in refused(serving, 422, pixels=[255.0, *empty[1:]])
    assert "unknown variant 'nonesuch'" in refused(serving, 422, pixels=empty, variant="nonesuch")
    assert "no rotation" in refused(serving, 422, pixels=empty, variant="tenseal")
    assert "makes its inputs itself" in refused(serving, 422, pixels=empty, workload="fast-pir")
    with (serving.home / "run.lock").open() as lock:  # as a run has it that is being measured
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "a run is being measured" in refused(serving, 429, pixels=empty)


def test_those_that_can_are_offered(serving: Serving) -> None:
    """TenSEAL has no rotations, and what computes in the clear encrypts nothing."""
    told = asked(serving, "benchmark", "GET", "/v1/predictions").json()
    assert (told["workload"], told["side"]) == ("lola-mnist", 28)
    assert {"seal", "pyfhel"} <= set(told["variants"])
    assert {"tenseal", "cleartext"}.isdisjoint(told["variants"])


def test_a_form_of_another_site_is_refused(serving: Serving) -> None:
    headers = {"Origin": "http://elsewhere.example"}
    url = f"http://127.0.0.1:{serving.ports['dashboard']}/draw"
    cookies = httpx.get(url.replace("/draw", "/login"), params={"token": serving.token("dashboard")}).cookies
    answer = httpx.post(url, headers=headers, cookies=cookies, data={"pixels": "1", "variant": "seal"})
    assert answer.status_code == 403
