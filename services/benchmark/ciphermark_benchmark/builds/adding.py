"""Adds builds: compiled in a folder that nobody reads, checked there, and put into its place by one rename.

Whatever ends this before the rename, a kill included, leaves nothing that counts: the folder ``.adding`` is emptied by
the next who adds. See :mod:`ciphermark_adapters.added` for what a build consists of.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import ciphermark_adapters
from ciphermark_adapters import added, registry
from ciphermark_adapters.added import AddedBuild
from ciphermark_adapters.provenance import BINARY
from ciphermark_core import wire
from ciphermark_core.errors import UserError
from ciphermark_core.model import LibraryInfo

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,47}")
_SCRATCH = ".adding"
_OLD = "old@"  # before the name of a build that is being replaced; no name has that
_PREFIX = "prefix"  # of a library that was compiled here
_SET_UP = Path(ciphermark_adapters.__file__).parents[3] / "setup" / "added_builds.py"
_CHECK_S = 600

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for: a prefix, an environment, or our sources with a compiler and flags."""

    name: str
    library: str
    prefix: Path | None = None
    environment: Path | None = None
    compiler: str | None = None
    flags: str | None = None
    hexl: bool = False

    def as_dict(self) -> dict[str, Any]:
        """What of it says where the library is from, with places spelled out: JSON can hold it."""
        return {
            "prefix": None if self.prefix is None else str(self.prefix.absolute()),
            "environment": None if self.environment is None else str(self.environment.absolute()),
            "compiler": self.compiler,
            "flags": self.flags,
            "hexl": self.hexl,
        }


def require_possible(request: Request, known: Sequence[str]) -> None:
    """Raise ``UserError`` for a name that cannot be one, is taken, or a library that is not made of that. Pure."""
    if not _NAME.fullmatch(request.name):
        raise UserError(
            f"{request.name!r} cannot name a build: take small letters, digits, `-`, `_` and `.`, 48 at most, and "
            "begin with a letter or digit"
        )
    if request.name in known:
        raise UserError(f"there is a variant {request.name} already: take another name")
    takers = takes()
    if request.library not in takers:
        raise UserError(f"no build of {request.library!r} can be added; libraries: {', '.join(takers)}")
    given = {name for name, value in request.as_dict().items() if value}
    odd = sorted(given - set(takers[request.library]))
    if odd:
        options = ", ".join(f"--{name}" for name in takers[request.library])
        raise UserError(f"a build of {request.library} takes {options}, and no --{odd[0]}")
    if request.prefix is not None and len(given) > 1:
        other = sorted(given - {"prefix"})[0]
        raise UserError(f"--prefix is a library that is compiled already: leave --{other} out")


def takes() -> Mapping[str, tuple[str, ...]]:
    """The options of each library of which builds can be added, by the name of its folder."""
    declared = registry.shipped().values()
    return {item.implementation.split(".")[1]: item.built_from for item in declared if item.built_from}


def add(request: Request, say: Say) -> AddedBuild:
    """Compile, check and keep a build; raises ``UserError`` for what stands against it, with nothing left behind."""
    require_possible(request, sorted(registry.declarations()))
    with _alone() as scratch:
        folder = scratch / request.name
        folder.mkdir()
        AddedBuild(request.name, request.library, "", "", request.as_dict()).write(folder)
        build = _made(folder, scratch, say)
        folder.rename(added.home() / request.name)
    return build


def refresh(names: Sequence[str], say: Say) -> list[str]:
    """Make builds anew whose native modules are of other sources than the adapter's; all of them where none is named.

    Returns the names of those made anew. A failure leaves a build as it was.
    """
    builds = added.all_builds()
    for name in names:
        if name not in builds:
            raise unknown(name)
    stale = [name for name in names or builds if added.is_stale(builds[name])]
    for name in stale:
        _made_anew(builds[name], say)
    return stale


def remove(name: str) -> None:
    """Forget a build. What was measured with it stays."""
    if name not in added.all_builds():
        raise unknown(name)
    with _alone() as scratch:
        (added.home() / name).rename(scratch / name)


def unknown(name: str) -> UserError:
    """The complaint about a name that no build has."""
    names = ", ".join(added.all_builds()) or "none yet"
    return UserError(f"there is no build {name!r}; builds: {names}")


def _made_anew(build: AddedBuild, say: Say) -> None:
    say(f"{build.name}: {build.origin}")
    place = added.home() / build.name
    with _alone() as scratch:
        folder = scratch / build.name
        folder.mkdir()
        if (place / _PREFIX).is_dir():
            shutil.copytree(place / _PREFIX, folder / _PREFIX)  # SEAL itself need not be compiled again
        AddedBuild(build.name, build.library, "", "", build.request).write(folder)
        renewed = _made(folder, scratch, say)
        if renewed.facts.get(BINARY) != build.facts.get(BINARY):
            raise UserError(
                f"{build.name}: the library there is another one now; remove the build, and add it again under a name "
                "of its own"
            )
        place.rename(scratch / f"{_OLD}{build.name}")
        folder.rename(place)


def _made(folder: Path, scratch: Path, say: Say) -> AddedBuild:
    """Compile and check what ``build.json`` in a folder asks for."""
    _compile(folder)
    unchecked = added.read(folder)
    assert unchecked is not None
    say("checking: every scheme encrypts, adds, multiplies and decrypts")
    info = _checked(unchecked.name, scratch)
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    build = replace(unchecked, hexl=info.hexl, version=info.version, facts=info.build, added_at=now)
    build.write(folder)
    return build


def _compile(folder: Path) -> None:
    if not _SET_UP.is_file():
        raise UserError(
            "builds are added where Ciphermark was set up from its repository, and this is no such place"
        )
    process = subprocess.Popen(
        [sys.executable, str(_SET_UP), str(folder)], stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        _, complaint = process.communicate()
    except BaseException:
        process.terminate()  # it ends what it started
        process.wait()
        raise
    if process.returncode != 0:
        raise UserError(complaint.decode(errors="replace").strip() or "the set-up ended without a word")


def _checked(name: str, scratch: Path) -> LibraryInfo:
    """What the build says of itself, once it has computed rightly; it is looked for in the scratch folder."""
    python = scratch / name / added.ENVIRONMENT / "bin" / "python"
    command = [str(python), "-m", "ciphermark_measure.self_check", name]
    env = {**os.environ, added.PATH_VARIABLE: str(scratch)}
    try:
        done = subprocess.run(command, capture_output=True, timeout=_CHECK_S, check=False, env=env)
    except subprocess.TimeoutExpired:
        raise UserError(f"the build does not end its checks within {_CHECK_S} s, and is not added") from None
    if done.returncode != 0:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or [f"exit {done.returncode}"]
        raise UserError(f"the build fails its checks, and is not added: {last[0]}")
    return wire.from_line(done.stdout, LibraryInfo)


@contextmanager
def _alone() -> Iterator[Path]:
    """An empty scratch folder beside the builds, which nobody else uses; it is gone afterwards."""
    home = added.home()
    try:
        home.mkdir(parents=True, exist_ok=True)
        lock = (home / ".lock").open("w")
    except OSError as error:
        raise UserError(f"{home}: cannot keep builds there: {error.strerror}") from None
    with lock as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError("another build is being added here: wait for it") from None
        scratch = home / _SCRATCH
        for old in scratch.glob(f"{_OLD}*"):  # who replaced a build was killed in between
            if not (home / old.name.removeprefix(_OLD)).exists():
                old.rename(home / old.name.removeprefix(_OLD))
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        try:
            yield scratch
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
