"""Sources of the C++ libraries, from package registries, verified against the hashes that recipes pin.

A recipe lists the archives that it builds from in the tuple `SOURCES`; recipes may share one.
"""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from places import BUILD, PYTHON, SOURCES, file_digest, tool_environment
from runner import FailureError, Shell, Stage


@dataclass(frozen=True)
class Archive:
    """A package whose sources a registry has; `folders` maps folders below `SOURCES` to the paths unpacked there."""

    package: str
    version: str
    file: str
    sha256: str
    download: Callable[["Archive", Shell], None]
    folders: Mapping[str, str]

    @property
    def path(self) -> Path:
        """The path of the downloaded archive."""
        return SOURCES / self.file

    def is_there(self) -> bool:
        """Return whether the archive and its unpacked folders exist."""
        return self.path.exists() and all((SOURCES / folder).is_dir() for folder in self.folders)

    def fetch(self, shell: Shell) -> None:
        """Download, verify and unpack it."""
        self.download(self, shell)
        verify(self.path, self.sha256)
        for folder, member in self.folders.items():
            _unpack(shell, self.path, member, SOURCES / folder)


def stage(archives: Collection[Archive]) -> Stage:
    """Return the stage that fetches these archives."""
    pinned = "".join(sorted(f"{archive.sha256}  {archive.file}\n" for archive in archives))
    return Stage(
        "sources",
        "sources of the libraries",
        inputs=lambda: [hashlib.sha256(pinned.encode()).hexdigest()],
        is_present=lambda: all(archive.is_there() for archive in archives),
        build=lambda shell: _fetch(archives, shell),
        needs=("python",),
    )


def _fetch(archives: Collection[Archive], shell: Shell) -> None:
    shutil.rmtree(SOURCES, ignore_errors=True)
    SOURCES.mkdir(parents=True)
    for archive in archives:
        archive.fetch(shell)


def verify(archive: Path, sha256: str) -> None:
    """Raise `FailureError` if the archive is not the pinned one."""
    actual = file_digest(archive)
    if actual != sha256:
        raise FailureError(
            f"{archive.name} has SHA-256 {actual}, not the pinned one",
            "empty the caches of pip, cargo and Maven and run it again; if it differs again, don't trust the download",
        )


def from_pip(archive: Archive, shell: Shell) -> None:
    """Download and verify a source distribution with pip.

    pip also builds the package's metadata, with the tools that `requirements.txt` pins.
    """
    wanted = BUILD / f"{archive.package.lower()}-requirement.txt"
    wanted.write_text(f"{archive.package}=={archive.version} --hash=sha256:{archive.sha256}\n")
    options = ("--no-deps", "--no-build-isolation", f"--no-binary={archive.package}", "--require-hashes")
    advice = "check that pip can reach a package registry (`pip config list`), then run it again"
    download = (PYTHON, "-m", "pip", "download")
    shell.run(*download, *options, "--dest", SOURCES, "--requirement", wanted, advice=advice)


def from_cargo(archive: Archive, shell: Shell) -> None:
    """Download one crate with cargo.

    `cargo install` of a crate without programs downloads that crate without its dependencies, then reports that there
    is nothing to install. Success therefore shows in cargo's cache, not in the exit code.
    """
    home = BUILD / "cargo-install"
    command = ["cargo", "install", archive.package, "--version", f"={archive.version}", "--root", str(home)]
    try:
        ended = subprocess.run(command, env=tool_environment(), capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise FailureError(
            "cargo is not installed", "install it (on Debian: apt-get install cargo)"
        ) from error
    shell.note(f"$ {' '.join(command)}\n{ended.stderr}(that there is nothing to install is expected)")
    cache = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo")) / "registry" / "cache"
    crate = next(cache.glob(f"*/{archive.file}"), None)
    if crate is None:
        raise FailureError(
            f"cargo left no {archive.file} in {cache}",
            "check that cargo can reach a crate registry, then run it again",
        )
    shutil.copyfile(crate, archive.path)


def _unpack(shell: Shell, archive: Path, member: str, folder: Path) -> None:
    folder.mkdir(parents=True)
    depth = member.count("/") + 1
    options = ("--extract", "--gzip", "--file", archive, "--directory", folder, f"--strip-components={depth}")
    shell.run("tar", *options, member, advice="check free disk space, then run it again")
