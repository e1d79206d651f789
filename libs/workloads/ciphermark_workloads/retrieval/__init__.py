"""The family ``retrieval``: one element of a server's database, by an index that is hidden from the server."""
