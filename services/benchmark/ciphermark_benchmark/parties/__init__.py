"""The two parties that execute a workload: their location, their messages, their costs."""
