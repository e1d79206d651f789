"""Figures as tables of a terminal: what all rows have is told above them, once. Pure."""
