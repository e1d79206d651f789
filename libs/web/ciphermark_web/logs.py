"""Structured logs: one JSON object a line on standard error, with the ids of run and trial, and never a token."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TextIO, cast

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

LEVELS = ("info", "debug", "warning", "error")


def configure(service: str, level: str, tokens: Callable[[], Iterable[str]]) -> None:
    """Make structlog, and the standard library's loggers with it, write to standard error, where they can."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        lambda _, __, event: {"service": service, **event},
    ]
    render, output = _Concealing(tokens), cast(TextIO, _Enduring(sys.stderr))
    structlog.configure(
        processors=[*shared, structlog.processors.format_exc_info, render],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.PrintLoggerFactory(output),
    )
    handler = logging.StreamHandler(output)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                render,
            ],
        )
    )
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)


class _Enduring:
    """A file that ignores write errors: on a full disk a line is lost, and its writer continues."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> None:
        """Write, or ignore the failure."""
        with suppress(OSError):
            self._file.write(text)

    def flush(self) -> None:
        """Flush, or ignore the failure."""
        with suppress(OSError):
            self._file.flush()


class _Concealing:
    """Renders an event as JSON without any token, whatever its origin."""

    def __init__(self, tokens: Callable[[], Iterable[str]]) -> None:
        self._render = structlog.processors.JSONRenderer(default=str)
        self._tokens = tokens

    def __call__(self, logger: WrappedLogger, name: str, event: EventDict) -> str:
        rendered = str(self._render(logger, name, event))
        for token in self._tokens():
            rendered = rendered.replace(token, "[token]")
        return rendered
