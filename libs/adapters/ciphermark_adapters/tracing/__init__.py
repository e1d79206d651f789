"""Pseudo-library ``tracing``: records the graph of operations that a computation makes."""
