"""Jobs: suites that clients submit to the service, queued in PostgreSQL, and executed by workers on any number of
hosts.
"""
