"""The REST API of the service: jobs in, results out. It measures nothing itself."""
