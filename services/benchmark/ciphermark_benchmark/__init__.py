"""The benchmark service: a suite becomes a plan, the plan is executed, outcomes are recorded."""

__version__ = "0.1.0"
