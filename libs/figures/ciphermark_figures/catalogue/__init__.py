"""Every figure of every page: its words, its query, its chart and its table."""
