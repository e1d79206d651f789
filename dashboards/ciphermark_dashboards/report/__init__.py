"""A run as one file: what was found in plain words, charts, tables, method, host, builds and caveats."""

from __future__ import annotations

from ciphermark_dashboards.report.content import Report, made
from ciphermark_dashboards.report.formats import FORMATS, write

__all__ = ["FORMATS", "Report", "made", "write"]
