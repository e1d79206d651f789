"""The server service: it evaluates, and holds no secret key."""

__version__ = "0.1.0"
