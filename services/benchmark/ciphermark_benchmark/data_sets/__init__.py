"""The data sets that suites name, and where they are."""
