"""Workloads in runs: a trial that two parties carry out."""
