"""The common part of all services: tokens, limits, problems, health, logs and metrics."""

__version__ = "0.1.0"
