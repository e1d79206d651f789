"""Circuits: homomorphic programs over an evaluator's operations. They know levels and scales, but no data."""

__version__ = "0.1.0"
