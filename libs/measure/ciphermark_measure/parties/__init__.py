"""The two parties of a workload: a client that alone holds the key, and a server that evaluates."""
