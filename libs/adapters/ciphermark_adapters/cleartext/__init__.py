"""Pseudo-library ``cleartext``: the reference that every result is checked against."""
