"""Data sets that users give, under a name that tells their contents."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from ciphermark_core.errors import UserError
from ciphermark_workloads.data_sets.reader import LabelRule, two_classes

_LONGEST_STEM = 40
_DIGITS = 8


@dataclass(frozen=True, slots=True)
class Given:
    """A data set of a user: its CSV with a label of two values, ``digest`` its SHA-256, and its size."""

    data: bytes
    digest: str
    rows: int
    features: int

    def called(self, stem: str) -> str:
        """Its name in results: ``mine@3b5d12ab``. Equal names have equal contents, whatever the file's folder."""
        return named(stem, self.digest)


def named(stem: str, digest: str) -> str:
    """What contents of a SHA-256 are called in results, after the file's stem. Pure."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("._-")[:_LONGEST_STEM] or "data"
    return f"{plain}@{digest[:_DIGITS]}"


def take(data: bytes, origin: str, rule: LabelRule = "binary") -> Given:
    """Check CSV as a user gave it; ``origin`` is what faults call it.

    With the rule ``median`` what is taken has 0 and 1 as labels: the rule is a part of the contents.
    Raises ``UserError`` for what :func:`~ciphermark_workloads.data_sets.reader.read` refuses.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise UserError(f"{origin}: byte {error.start} is not UTF-8: save the file as UTF-8") from None
    written, found = two_classes(text, origin, rule)
    kept = written.encode()
    return Given(kept, hashlib.sha256(kept).hexdigest(), *found.features.shape)
