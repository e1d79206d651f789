"""What can be wrong with a request, beside what ``UserError`` says already."""

from __future__ import annotations

from ciphermark_core.errors import UserError


class NotFoundError(UserError):
    """What the address names is not there."""


class ForeignError(UserError):
    """Another site made the request."""


class ServiceAwayError(UserError):
    """The benchmark service does not answer."""


class TooSlowError(UserError):
    """The database took too long."""


class UnpreparedError(UserError):
    """The database has not the tables of this version."""
