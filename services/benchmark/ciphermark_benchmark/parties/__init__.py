"""The two parties that carry out a workload: where they are, what goes between them, what it cost."""
