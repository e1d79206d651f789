"""Which run and trial a request belongs to, as its headers say."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ciphermark_web.problems import Problem

RUN_HEADER, TRIAL_HEADER = "x-run-id", "x-trial-id"
ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
_ID = re.compile(ID_PATTERN)


def ids(headers: Mapping[str, str]) -> dict[str, str]:
    """The ids of run and trial that a request carries; raises ``Problem`` for one that is no id."""
    found = {}
    for name, header in (("run_id", RUN_HEADER), ("trial_id", TRIAL_HEADER)):
        if header in headers:
            if not _ID.fullmatch(headers[header]):
                raise Problem("invalid", f"header {header}: an id has up to 64 letters, digits and . _ -")
            found[name] = headers[header]
    return found
