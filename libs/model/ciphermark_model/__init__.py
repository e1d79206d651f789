"""Predictions of what a program costs, from measured costs of its operations. Pure."""
