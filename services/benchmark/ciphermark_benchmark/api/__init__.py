"""The REST API of the service: accepts jobs and returns results. This process measures nothing."""
