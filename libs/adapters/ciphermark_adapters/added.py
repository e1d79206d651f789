"""Users' builds: variants created by ``ciphermark build add``, each a folder with a separate environment.

A build is a library that was compiled or installed elsewhere, driven by a shipped adapter. Its folder holds the file
``build.json``, and the environment whose interpreter loads it: two builds of one library never share a process. It also
holds SEAL itself where it was compiled here. Folders whose names begin with a dot are unfinished and ignored.
The setup also imports this module: standard library only.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ciphermark_adapters import binaries

if TYPE_CHECKING:
    from ciphermark_contract.declaration import Declaration

PATH_VARIABLE = "CIPHERMARK_BUILDS"
FILE = "build.json"
ENVIRONMENT = "environment"
_HERE = Path(__file__).parent
_REPOSITORY = _HERE.parents[2]


@dataclass(frozen=True, slots=True)
class AddedBuild:
    """One build. ``base`` is the shipped variant whose adapter drives it, ``origin`` the origin of the library.

    ``adapter`` is the digest of the native sources that its module was compiled from. ``outside`` are the files that it
    needs outside its folder, with their digests. ``facts`` are those of the loaded library when it was added.
    """

    name: str
    library: str
    base: str
    origin: str
    request: dict[str, Any]
    adapter: str = ""
    outside: dict[str, str] = field(default_factory=dict)
    hexl: bool = False
    version: str = ""
    added_at: str = ""
    facts: dict[str, str] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write the build's record to a folder."""
        (folder / FILE).write_text(json.dumps(asdict(self), indent=2))


def builds_folder() -> Path:
    """The folder of all builds: next to the setup's results, or as set by ``CIPHERMARK_BUILDS``."""
    named = os.environ.get(PATH_VARIABLE)
    return Path(named) if named else _REPOSITORY / ".build" / "builds"


def read(folder: Path) -> AddedBuild | None:
    """The build in a folder; ``None`` without one, or for a build of another edition of Ciphermark."""
    try:
        return AddedBuild(**json.loads((folder / FILE).read_text()))
    except (OSError, ValueError, TypeError):
        return None


def state() -> tuple[tuple[str, int], ...]:
    """A value that changes when a build is added, rebuilt or removed."""
    return tuple(sorted((path.name, (path / FILE).stat().st_mtime_ns) for path in _folders()))


def all_builds() -> dict[str, AddedBuild]:
    """Every build, by its name."""
    builds = {path.name: read(path) for path in sorted(_folders())}
    return {name: build for name, build in builds.items() if build is not None}


def declarations(shipped: Mapping[str, Declaration]) -> dict[str, Declaration]:
    """The declarations of the variants of all builds, derived from the shipped variants that drive them."""
    return {
        name: replace(
            shipped[build.base],
            variant=name,
            environment=str(builds_folder() / name / ENVIRONMENT),
            hexl=build.hexl,
            look=None,
            installation=None,
            remedy=f"ciphermark build refresh {name}",
        )
        for name, build in all_builds().items()
        if build.base in shipped
    }


def reason_against(name: str) -> tuple[str, str] | None:
    """Return why a variant's build cannot be used as added, and the remedy; ``None`` if usable, or no build."""
    build = read(builds_folder() / name)
    if build is None:
        return None
    for path, digest in build.outside.items():
        if not Path(path).is_file():
            return f"{path} is missing; the build {name} needs it", f"ciphermark build remove {name}"
        if binaries.digest(Path(path)) != digest:
            again = f"ciphermark build remove {name}, and add it again: the build has changed"
            return f"{path} has changed since the build {name} was added", again
    if is_stale(build):
        return (
            "its native module was built from other sources than the adapter",
            f"ciphermark build refresh {name}",
        )
    return None


def is_stale(build: AddedBuild) -> bool:
    """Whether the adapter's native sources have changed since its module was built."""
    return build.adapter != adapter_digest(build.library)


def adapter_digest(library: str) -> str:
    """The digest of the native sources of a library's adapter; empty for an adapter without any."""
    native = _HERE / library / "native"
    if not native.is_dir():
        return ""
    files = sorted(path for folder in (native, _HERE / "native_common") for path in folder.rglob("*.*pp"))
    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()[:16]


def _folders() -> Iterator[Path]:
    try:
        inside = list(builds_folder().iterdir())
    except OSError:
        return iter(())
    return (path for path in inside if not path.name.startswith(".") and (path / FILE).is_file())
