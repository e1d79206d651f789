"""Circuits: homomorphic programs over an evaluator's operations. They know levels and scales, but no data."""
