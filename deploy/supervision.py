"""Supervise several processes: restart each one that ends, independently of the others."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

MAX_DEATHS = 3
WITHIN_S = 60.0
_FIRST_PAUSE_S = 0.25
_GROWTH = 4.0


class Unit(Protocol):
    """A supervised process."""

    @property
    def name(self) -> str:
        """Its name in messages."""

    def start(self) -> None:
        """Start it. Raises ``OSError`` or ``RuntimeError`` on failure."""

    def death(self) -> str | None:
        """The cause of its death; ``None`` while it runs."""


@dataclass(frozen=True, slots=True)
class Condition:
    """The state of a unit. ``deaths_s`` are the times of its recent deaths. It restarts at ``restart_at_s``, unless it
    was given up. In both cases ``reason`` is the cause of the last death.
    """

    deaths_s: tuple[float, ...] = ()
    restart_at_s: float | None = None
    is_given_up: bool = False
    reason: str | None = None

    @property
    def is_running(self) -> bool:
        """Whether it is neither waiting for a restart nor given up."""
        return self.restart_at_s is None and not self.is_given_up


def after_death(before: Condition, now_s: float, reason: str) -> Condition:
    """The condition of a unit after its death: a restart after a pause that grows with every recent death, or none
    after the third death within a minute. Pure.
    """
    recent = (*(at_s for at_s in before.deaths_s if now_s - at_s < WITHIN_S), now_s)
    if len(recent) >= MAX_DEATHS:
        return Condition(recent, None, is_given_up=True, reason=reason)
    return Condition(recent, now_s + _FIRST_PAUSE_S * _GROWTH ** (len(recent) - 1), reason=reason)


class Supervisor:
    """Restarts units that ended. ``tell`` receives a message for every event; ``file`` holds the conditions of all
    units for other processes.
    """

    def __init__(self, units: Sequence[Unit], tell: Callable[[str], None], file: Path) -> None:
        self._units = units
        self._conditions = [Condition() for _ in units]
        self._tell = tell
        self._file = file
        self._is_file_behind = False
        self._write()

    @property
    def is_any_left(self) -> bool:
        """Whether any unit is not given up."""
        return not all(condition.is_given_up for condition in self._conditions)

    def look(self, now_s: float) -> None:
        """Record deaths, and start units whose pause is over."""
        after = [self._looked_at(*pair, now_s) for pair in zip(self._units, self._conditions, strict=True)]
        if after != self._conditions or self._is_file_behind:
            self._conditions = after
            self._write()

    def _looked_at(self, unit: Unit, before: Condition, now_s: float) -> Condition:
        if before.is_running:
            reason = unit.death()
            return before if reason is None else self._died(unit, before, now_s, reason)
        if before.restart_at_s is None or before.restart_at_s > now_s:
            return before
        try:
            unit.start()
        except (OSError, RuntimeError) as error:
            return self._died(unit, before, now_s, f"it cannot be started: {error}")
        self._tell(f"{unit.name} is started again")
        return Condition(before.deaths_s)

    def _died(self, unit: Unit, before: Condition, now_s: float, reason: str) -> Condition:
        after = after_death(before, now_s, reason)
        if after.restart_at_s is not None:
            self._tell(f"{unit.name}: {reason}\nit is started again in {after.restart_at_s - now_s:.2g} s")
        else:
            self._tell(
                f"{unit.name}: {reason}\n"
                f"it died {len(after.deaths_s)} times within {WITHIN_S:.0f} s and is left alone; the others go on"
            )
        return after

    def _write(self) -> None:
        """Replace the file of conditions atomically. On a full disk, `look` retries."""
        fresh = self._file.with_suffix(".new")
        try:
            fresh.write_text(self._told(), encoding="utf-8")
            os.replace(fresh, self._file)
        except OSError as error:
            if not self._is_file_behind:
                self._tell(f"{self._file} is not written: {error.strerror}; the services go on")
            self._is_file_behind = True
        else:
            self._is_file_behind = False

    def _told(self) -> str:
        rows = [
            {
                "name": unit.name,
                "state": "given up" if now.is_given_up else "running" if now.is_running else "waiting",
                "deaths": len(now.deaths_s),
                "reason": now.reason,
            }
            for unit, now in zip(self._units, self._conditions, strict=True)
        ]
        return json.dumps(rows, indent=1) + "\n"
