"""Phases of samples, as tests write them."""

from __future__ import annotations


def place(phase: str) -> tuple[str, str | None, str | None]:
    """Split :attr:`~ciphermark_core.model.Sample.phase` into stage, party and step."""
    stage, _, part = phase.partition(".")
    return (stage, part, None) if part in ("client", "server") else (stage, None, part or None)
