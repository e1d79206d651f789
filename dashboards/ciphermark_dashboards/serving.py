"""Assets: read once, compressed once, and cached by browsers for good, since a new text has a new address."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import vl_convert

_EXPOSED = "window.vegaEmbed = vegaEmbed;"
_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


@dataclass(frozen=True, slots=True)
class Asset:
    """One file as it is sent."""

    name: str
    content_type: str
    compressed: bytes  # gzip
    digest: str

    @property
    def path(self) -> str:
        """Its address, which changes with its text."""
        return f"/assets/{self.digest}/{self.name}"

    @property
    def plain(self) -> bytes:
        """Its text as it is, for the few who cannot take gzip."""
        return gzip.decompress(self.compressed)


@cache
def assets() -> Mapping[str, Asset]:
    """The stylesheet, our script, the icon, and Vega with Vega-Lite from the installed package."""
    folder = files(__package__) / "assets"
    found = {file.name: _asset(file.name, file.read_bytes()) for file in folder.iterdir()}
    found["vega.js"] = _asset("vega.js", vl_convert.javascript_bundle(_EXPOSED).encode())
    return found


def _asset(name: str, data: bytes) -> Asset:
    kind = _TYPES[name.rpartition(".")[2]]
    return Asset(name, kind, gzip.compress(data, mtime=0), hashlib.sha256(data).hexdigest()[:16])
