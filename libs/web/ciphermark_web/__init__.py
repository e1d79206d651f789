"""What every service has: tokens, limits, problems, health, logs and metrics."""

__version__ = "0.1.0"
