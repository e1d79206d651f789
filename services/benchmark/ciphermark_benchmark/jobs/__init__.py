"""Jobs: suites that the service was asked to execute, queued in PostgreSQL, taken by workers on any number of hosts."""
