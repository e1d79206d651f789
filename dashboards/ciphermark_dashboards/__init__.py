"""Pages, charts and reports over the SQL views: read-only, and nothing from the internet."""

__version__ = "0.1.0"
