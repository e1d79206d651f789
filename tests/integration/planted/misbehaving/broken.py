"""A library that is there and cannot be loaded."""

raise ImportError("libplanted.so.1: cannot open shared object file")
