"""Adapters: one folder per library behind one contract. To add one, copy ``_template``."""
