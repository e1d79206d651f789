"""What goes wrong between Ciphermark and PostgreSQL."""

from __future__ import annotations


class DatabaseUnavailable(Exception):
    """No PostgreSQL server answers. The text says which, why, and what to do; retrying later may help."""
