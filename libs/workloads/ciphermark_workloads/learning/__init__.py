"""Classifiers trained on encrypted data, or in the clear, and applied to encrypted rows."""
