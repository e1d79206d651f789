"""The family ``retrieval``: one element of a server's database, by an index that the server does not learn."""
