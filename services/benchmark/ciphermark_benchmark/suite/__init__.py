"""What is measured: the form of suites, and what of it becomes cases, in which order and for how long."""
