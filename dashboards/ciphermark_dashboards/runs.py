"""Runs that are recorded: those to choose from, and the one that a name means."""

from __future__ import annotations

from typing import Any

from ciphermark_dashboards.errors import NotFoundError
from ciphermark_dashboards.store import Store

Run = dict[str, Any]


def choices(store: Store) -> list[Run]:
    """The runs that pages offer: the latest 1,000, the latest first."""
    return store.ask("run_choices", {}).mappings


def named(store: Store, asked: str) -> Run:
    """The run that a text means, however old: an id or the beginning of it, a label, ``last``, ``last:SUITE``; the
    latest for nothing.

    Raises :class:`NotFoundError` where that is no run, or the beginning of several.
    """
    run = found(store, asked)
    if run is not None:
        return run
    latest = found(store, "last")
    if latest is None:
        raise NotFoundError("No run is recorded yet: make one with `ciphermark run quick`.")
    raise NotFoundError(f"{asked} is no run here; the latest is {latest['run_id']}.")


def found(store: Store, asked: str) -> Run | None:
    """The run that :func:`named` gives, or nothing. Raises :class:`NotFoundError` for the beginning of several ids."""
    rows = store.ask("run_named", {"asked": asked}).mappings
    if not rows:
        return None
    if len(rows) == 1:
        return rows[0]
    raise NotFoundError(f"{asked} is the beginning of several runs: give more of the id.")


def before(store: Store, run_id: str) -> str:
    """The latest run before this one of its suite, else of any, else this one."""
    (row,) = store.ask("run_before", {"run_id": run_id}).mappings
    return str(row["run_id"])
