"""The client service, the only holder of the secret key."""

__version__ = "0.1.0"
