"""What figures say in plain words, for the summaries of reports."""
