"""Accelerators: machines as data, and the time and traffic of a traced program on them. Pure."""
