"""Workloads: a family is a folder, a workload a file. They depend on circuits and the contract, not on libraries."""
