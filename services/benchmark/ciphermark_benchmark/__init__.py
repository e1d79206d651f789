"""The benchmark service: turns a suite into a plan, executes the plan, and records the outcomes."""

__version__ = "0.1.0"
