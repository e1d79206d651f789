"""Lattigo through a shared library of our own, written in Go: variant ``lattigo``."""
