"""Suites: their form, and their cases with order and duration."""
