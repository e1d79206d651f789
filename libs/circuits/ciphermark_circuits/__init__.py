"""Circuits: homomorphic programs over an evaluator's operations. They depend on levels and scales, but not on data."""

__version__ = "0.1.0"
