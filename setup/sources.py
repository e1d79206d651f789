"""Sources of the C++ libraries, from package registries, verified against pinned hashes.

SEAL comes with the source distribution of Pyfhel. HEXL, zlib, zstd and Microsoft's GSL come with the Rust
crate `sealy`, which carries SEAL's third-party code.
"""

import os
import shutil
import subprocess
from pathlib import Path

from places import BUILD, PYTHON, SETUP, SOURCES, file_digest, tool_environment
from runner import FailureError, Shell

PYFHEL_VERSION = "3.5.0"
SEALY_VERSION = "0.2.0"
PYFHEL_ARCHIVE = SOURCES / f"pyfhel-{PYFHEL_VERSION}.tar.gz"
SEALY_ARCHIVE = SOURCES / f"sealy-{SEALY_VERSION}.crate"
SEAL = SOURCES / "seal"
THIRD_PARTY = SOURCES / "thirdparty"
LIBRARIES = ("hexl", "msgsl", "zlib", "zstd")
HASHES = SETUP / "sources.sha256"


def has_sources() -> bool:
    """Tell whether archives and unpacked sources are there."""
    folders = [SEAL, *(THIRD_PARTY / name for name in LIBRARIES)]
    return PYFHEL_ARCHIVE.exists() and all(folder.is_dir() for folder in folders)


def fetch_sources(shell: Shell) -> None:
    """Download both archives, verify them and unpack what we build."""
    shutil.rmtree(SOURCES, ignore_errors=True)
    SOURCES.mkdir(parents=True)
    _download_pyfhel(shell)
    _download_sealy(shell)
    for archive in (PYFHEL_ARCHIVE, SEALY_ARCHIVE):
        verify(archive, HASHES)
    _unpack(shell, PYFHEL_ARCHIVE, f"pyfhel-{PYFHEL_VERSION}/Pyfhel/backend/SEAL", SEAL)
    for name in LIBRARIES:
        _unpack(shell, SEALY_ARCHIVE, f"sealy-{SEALY_VERSION}/SEAL/thirdparty/{name}", THIRD_PARTY / name)


def expected_hash(archive: Path, hashes: Path) -> str:
    """Return the archive's pinned SHA-256."""
    pairs = (line.split() for line in hashes.read_text().splitlines())
    return next(digest for digest, name in pairs if name == archive.name)


def verify(archive: Path, hashes: Path) -> None:
    """Raise `FailureError` where the archive is not the pinned one."""
    found = file_digest(archive)
    if found != expected_hash(archive, hashes):
        raise FailureError(
            f"{archive.name} has SHA-256 {found}, not the pinned one",
            "empty the caches of pip, cargo and Maven and run it again; if it differs again, don't trust the download",
        )


def _download_pyfhel(shell: Shell) -> None:
    """Let pip download and verify the archive.

    pip then also asks the package's build for its metadata, which needs the pinned toml and Cython.
    """
    wanted = BUILD / "pyfhel-requirement.txt"
    wanted.write_text(f"Pyfhel=={PYFHEL_VERSION} --hash=sha256:{expected_hash(PYFHEL_ARCHIVE, HASHES)}\n")
    options = (
        "--no-deps",
        "--no-build-isolation",
        "--no-binary=Pyfhel",
        "--require-hashes",
        "--dest",
        SOURCES,
    )
    advice = "check that pip can reach a package registry (`pip config list`), then run it again"
    shell.run(PYTHON, "-m", "pip", "download", *options, "--requirement", wanted, advice=advice)


def _download_sealy(shell: Shell) -> None:
    """Let cargo download the one crate.

    `cargo install` of a crate without programs downloads that crate, none of its dependencies, and then says
    that there is nothing to install. So success shows in cargo's cache, not in the exit code.
    """
    home = BUILD / "cargo-install"
    command = ["cargo", "install", "sealy", "--version", f"={SEALY_VERSION}", "--root", str(home)]
    try:
        ended = subprocess.run(command, env=tool_environment(), capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise FailureError(
            "cargo is not installed", "install it (on Debian: apt-get install cargo)"
        ) from error
    shell.note(f"$ {' '.join(command)}\n{ended.stderr}(that there is nothing to install is expected)")
    cache = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo")) / "registry" / "cache"
    found = next(cache.glob(f"*/{SEALY_ARCHIVE.name}"), None)
    if found is None:
        raise FailureError(
            f"cargo left no {SEALY_ARCHIVE.name} in {cache}",
            "check that cargo can reach a crate registry, then run it again",
        )
    shutil.copyfile(found, SEALY_ARCHIVE)


def _unpack(shell: Shell, archive: Path, member: str, folder: Path) -> None:
    folder.mkdir(parents=True)
    depth = member.count("/") + 1
    options = ("--extract", "--gzip", "--file", archive, "--directory", folder, f"--strip-components={depth}")
    shell.run("tar", *options, member, advice="check free disk space, then run it again")
