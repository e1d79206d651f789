"""Resolves texts to runs, with messages for texts that denote none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciphermark_core import names
from ciphermark_core.errors import UserError

if TYPE_CHECKING:
    from ciphermark_db.database import Database

RUN_HELP = "Run: its id or a prefix of it, its label, last, last~1 (the one before), or last:SUITE."


def label(text: str) -> str:
    """The text, if it is a valid label; raises ``UserError`` otherwise."""
    if text == names.LATEST:
        raise UserError(f"{names.LATEST!r} means the latest run and cannot be a label")
    return names.required(text, "the label of a run")


def note_on(database: Database, label: str) -> str | None:
    """A note on a label that several runs share; ``None`` for any other."""
    ids = [str(row["id"]) for row in database.report("labeled_runs", label=label)]
    if len(ids) < 2:
        return None
    return f"Note: {len(ids)} runs have the label {label}: {', '.join(ids)}. It means {database.runs_named(label)[0]}"


def resolved(database: Database, text: str) -> str:
    """The id of the run that a text denotes: an id or its beginning, a label, ``last``, ``last~1``, ``last:SUITE``.

    Raises ``UserError`` if it denotes no run, or is the beginning of several ids.
    """
    ids = database.runs_named(text)
    if len(ids) == 1:
        return ids[0]
    latest = database.runs_named(names.LATEST)
    if not latest:
        shipped = ", ".join(row["label"] or row["id"] for row in database.report("reference_runs"))
        also = f", or name a reference run: {shipped}" if shipped else ""
        raise UserError(f"no run is recorded yet; start one: `ciphermark run quick`{also}")
    if not ids:
        raise UserError(f"no run matches {text!r}; the latest is {latest[0]}; see `ciphermark runs`")
    raise UserError(f"several runs begin with {text!r}: {', '.join(ids)}, …; enter more of the id")
