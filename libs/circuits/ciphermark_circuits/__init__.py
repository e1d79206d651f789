"""Circuits and workloads, written once over the adapter contract: no library is named here."""

__version__ = "0.1.0"
