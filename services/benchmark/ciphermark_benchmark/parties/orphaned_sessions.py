"""Sessions that killed runs left at the services: they hold places and memory until somebody ends them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from ciphermark_benchmark.parties import http_party
from ciphermark_web.rest import NoAnswer, RequestRefused, RestClient


def end_sessions(environ: Mapping[str, str], run_ids: Iterable[str]) -> None:
    """End the sessions of runs that nobody executes any more, at the services that the environment names, if it does.

    A service that does not answer is left alone: it ends idle sessions itself.
    """
    ids = tuple(run_ids)
    for service in http_party.services(environ) or ():
        with suppress(NoAnswer), RestClient(service) as rest:
            for run_id in ids:
                _end(rest, run_id)


def _end(rest: RestClient, run_id: str) -> None:
    with suppress(RequestRefused):
        rest.send("DELETE", "/v1/sessions", params={"run_id": run_id}, headers={"X-Run-Id": run_id})


def begun(pending: Path) -> list[str]:
    """The runs that have a journal in a folder. Whoever is alone in a home knows that none of them is executed."""
    return [path.stem for path in pending.glob("*.jsonl")]
