"""Metrics that are counted in the database when somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from ciphermark_core.errors import UserError
from ciphermark_db.database import Database, DatabaseUnavailable
from ciphermark_db.sql import blocks


class Counted(Collector):
    """Jobs by state, benchmark workers that are alive, trials by status; while the database is away only that it is."""

    def __init__(self, connect: Callable[[], Database], stalled_s: float) -> None:
        self._connect = connect
        self._stalled_s = stalled_s

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """See prometheus_client."""
        is_there = GaugeMetricFamily("ciphermark_database_is_there", "Whether PostgreSQL answers")
        try:
            with self._connect() as database:
                found = database.query(
                    blocks("jobs")["counted"].decode(), {"stalled_s": self._stalled_s}
                ).rows
        except (DatabaseUnavailable, UserError):
            is_there.add_metric([], 0)
            yield is_there
            return
        is_there.add_metric([], 1)
        families = {
            "jobs": GaugeMetricFamily("ciphermark_jobs", "Jobs by state", labels=["state"]),
            "trials": GaugeMetricFamily("ciphermark_trials", "Recorded trials by status", labels=["status"]),
            "workers": GaugeMetricFamily("ciphermark_workers", "Benchmark workers that are alive"),
        }
        for name, label, count in found:
            families[name].add_metric([label] if label else [], count)
        yield is_there
        yield from families.values()
