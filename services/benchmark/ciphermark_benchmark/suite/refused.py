"""What of a plan is not executed."""

from __future__ import annotations

from typing import NamedTuple

from ciphermark_core.model import Status, Trial


class Refused(NamedTuple):
    """A trial that is not executed, and what it comes to."""

    trial: Trial
    reason: str
    status: Status = "unsupported"
