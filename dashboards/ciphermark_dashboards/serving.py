"""Assets: read once, compressed once, and cached by browsers for good, since a new text has a new address."""

from __future__ import annotations

import gzip
import hashlib
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from threading import Lock

_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_VEGA = "vega.js"
_PACKAGE = "vl-convert-python"
_EXPOSED = "window.vegaEmbed = vegaEmbed;"
_BUNDLING = f"import sys, vl_convert; sys.stdout.write(vl_convert.javascript_bundle({_EXPOSED!r}))"
_bundling = Lock()


@dataclass(frozen=True, slots=True)
class Asset:
    """One file as it is sent; ``read`` gives its text, compressed by gzip."""

    name: str
    content_type: str
    digest: str
    read: Callable[[], bytes]

    @property
    def path(self) -> str:
        """Its address, which changes with its text."""
        return f"/assets/{self.digest}/{self.name}"

    @property
    def plain(self) -> bytes:
        """Its text as it is, for the few who cannot take gzip."""
        return gzip.decompress(self.read())


@cache
def assets() -> Mapping[str, Asset]:
    """The stylesheet, our scripts, the icon, and Vega with Vega-Lite from the installed package."""
    folder = files(__package__) / "assets"
    found = {file.name: _asset(file.name, file.read_bytes()) for file in folder.iterdir()}
    # What it is bundled from says what it is: pages are there before it is.
    origin = f"{_PACKAGE} {version(_PACKAGE)} {_EXPOSED}".encode()
    found[_VEGA] = Asset(_VEGA, _TYPES["js"], _digest(origin), bundled)
    return found


def bundled() -> bytes:
    """Vega with Vega-Lite, made when it is first asked for, once; whoever asks meanwhile waits."""
    with _bundling:
        return _bundled()


@cache
def _bundled() -> bytes:
    """It takes seconds in which a process does nothing else, answer requests included: another process does it."""
    done = subprocess.run([sys.executable, "-c", _BUNDLING], stdout=subprocess.PIPE, check=True)
    return gzip.compress(done.stdout, mtime=0)


def _asset(name: str, data: bytes) -> Asset:
    packed = gzip.compress(data, mtime=0)
    return Asset(name, _TYPES[name.rpartition(".")[2]], _digest(data), lambda: packed)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
