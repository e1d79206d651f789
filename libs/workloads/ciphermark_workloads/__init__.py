"""Workloads: a family is a folder, a workload a file. They know circuits and the contract, no library."""
