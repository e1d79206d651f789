"""The three things that are not bugs: a user's mistake, a missing ability and a spent ciphertext."""

from __future__ import annotations


class UserError(Exception):
    """A mistake that the user can correct. The text states the mistake, its place and the remedy; exit code 2."""


class Unsupported(Exception):
    """The library, the scheme or the parameter set cannot do this. The text is the reason."""


class Exhausted(Exception):
    """The computation used up the modulus chain or the noise budget before it ended."""
