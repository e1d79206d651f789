"""What goes wrong between Ciphermark and PostgreSQL."""

from __future__ import annotations

from ciphermark_core.errors import UserError


class DatabaseUnavailable(Exception):
    """No PostgreSQL server answers. The text says which, why, and what to do; retrying later may help."""


class ContentRefused(UserError):
    """PostgreSQL takes what is recorded, but not this: the text says why. It would refuse it again."""
