"""The client service: it alone holds the secret key."""

__version__ = "0.1.0"
