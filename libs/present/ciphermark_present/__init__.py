"""Every figure and table, defined once for terminal, page and report: its view, columns, words, chart and sentences."""

__version__ = "0.1.0"
