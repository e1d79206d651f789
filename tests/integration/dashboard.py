"""The dashboard as programs ask it, over a database and without a browser."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from starlette.testclient import TestClient

from ciphermark_dashboards import app
from ciphermark_dashboards.settings import Settings
from ciphermark_web.keyring import Keyring

HERE = "http://127.0.0.1"


@contextmanager
def dashboard(
    url: str, *, token: str | None = None, follow_redirects: bool = True, **settings: Any
) -> Iterator[TestClient]:
    """A dashboard of its own, which bundles Vega, for browsers, only where it is asked for."""
    keyring = {} if token is None else {"keyring": Keyring(token)}
    made = app.made(Settings(url, **keyring, **settings))
    with (
        patch.object(app, "_prepare"),
        TestClient(made, base_url=HERE, follow_redirects=follow_redirects) as client,
    ):
        yield client


def rows_of(client: TestClient, figure: str, **params: object) -> list[dict[str, str]]:
    """The rows of a figure's CSV."""
    answer = client.get(f"/figures/{figure}.csv", params=params)
    assert answer.status_code == 200, answer.text
    return list(csv.DictReader(io.StringIO(answer.text)))
