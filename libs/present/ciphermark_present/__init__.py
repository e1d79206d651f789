"""Every figure and table, defined once for all outputs: its view, columns, texts, chart and sentences."""

__version__ = "0.1.0"
