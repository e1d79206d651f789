"""Prometheus metrics of a service; each service has a registry of its own."""

from __future__ import annotations

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
disable_created_metrics()  # type: ignore[no-untyped-call]  # the time of the first request is of no use
_BUCKETS_S = (0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 60.0, 300.0)


class Metrics:
    """Requests and what they carried; services add their own to ``registry``."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        labels = ("method", "route")
        self._requests = Counter(
            "ciphermark_requests", "Requests answered", (*labels, "status"), registry=self.registry
        )
        self._durations = Histogram(
            "ciphermark_request_seconds",
            "Time from a request's arrival to the end of its answer",
            labels,
            buckets=_BUCKETS_S,
            registry=self.registry,
        )
        self._bytes = Counter(
            "ciphermark_request_bytes", "Bytes of request bodies", labels, registry=self.registry
        )

    def count(self, method: str, route: str, status: int, duration_s: float) -> None:
        """Count one answered request; ``route`` is the template, not the path."""
        self._requests.labels(method, route, str(status)).inc()
        self._durations.labels(method, route).observe(duration_s)

    def count_bytes(self, method: str, route: str, size_bytes: int) -> None:
        """Count the body of a request."""
        self._bytes.labels(method, route).inc(size_bytes)

    def exposed(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self.registry)
