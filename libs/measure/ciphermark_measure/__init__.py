"""Measuring one trial: probes, experiments and the worker process. Has no access to the database."""
