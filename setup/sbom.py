"""Writes the bill of materials of an installation: CycloneDX 1.6, as JSON.

python3 setup/sbom.py > sbom.cdx.json

It has what the setup pins, with the hashes that it compares: Python packages of all `requirements.txt`, and the source
archives of recipes. It also has the Go modules of all `go.sum`, whose hashes are those of Go. The same input gives the
same bytes.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import recipes
from places import ADAPTERS, SETUP
from sources import Archive

_PACKAGE = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;\\]+)", re.MULTILINE)
_MODULE = re.compile(r"^(?P<name>\S+) (?P<version>v[^\s/]+) h1:", re.MULTILINE)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
Component = dict[str, Any]


def main() -> int:
    """Write the document to standard output."""
    json.dump(document(), sys.stdout, indent=1)
    print()
    return 0


def document() -> Component:
    """Return the bill of materials."""
    components = [
        *(part for path in requirement_files() for part in packages(path)),
        *map(_source, recipes.archives()),
        *(part for path in sorted(ADAPTERS.glob("[!_]*/native/go.sum")) for part in modules(path)),
    ]
    by_reference = {component["bom-ref"]: component for component in components}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "application", "bom-ref": "ciphermark", "name": "ciphermark"}},
        "components": [by_reference[reference] for reference in sorted(by_reference)],
    }


def requirement_files() -> list[Path]:
    """Return the files of pinned Python packages: the setup's and the libraries' own."""
    return [SETUP / "requirements.txt", *sorted(ADAPTERS.glob("[!_]*/requirements.txt"))]


def packages(path: Path) -> Iterator[Component]:
    """Yield the packages of one file; raises `ValueError` for one without a hash."""
    text = path.read_text(encoding="utf-8")
    found = list(_PACKAGE.finditer(text))
    for match, following in zip(found, [*found[1:], None], strict=True):
        hashes = _HASH.findall(text[match.end() : None if following is None else following.start()])
        if not hashes:
            raise ValueError(f"{path}: {match['name']} has no hash")
        name = re.sub(r"[-_.]+", "-", match["name"]).lower()
        purl = f"pkg:pypi/{name}@{match['version']}"
        # One of several files is installed, by the platform: each has an entry of its own.
        yield _component(purl, match["name"], match["version"]) | {
            "externalReferences": [
                {
                    "type": "distribution",
                    "url": purl,
                    "hashes": [{"alg": "SHA-256", "content": digest}],
                }
                for digest in hashes
            ]
        }


def modules(path: Path) -> Iterator[Component]:
    """Yield the Go modules of one file; Go compares their sources with the hashes in it."""
    for match in _MODULE.finditer(path.read_text(encoding="utf-8")):
        purl = f"pkg:golang/{match['name']}@{match['version']}"
        yield _component(purl, match["name"], match["version"])


def _source(archive: Archive) -> Component:
    purl = f"pkg:generic/{archive.package.lower()}@{archive.version}?file_name={archive.file}"
    return _component(purl, archive.package, archive.version) | {
        "description": "source archive that libraries are built from",
        "hashes": [{"alg": "SHA-256", "content": archive.sha256}],
    }


def _component(purl: str, name: str, version: str) -> Component:
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}


if __name__ == "__main__":
    sys.exit(main())
