"""Your own builds of libraries: add, list, show, refresh, remove.

A build is compiled in a scratch folder, checked there, and put into its place by one rename. Whatever ends
this before the rename, a kill included, leaves nothing that counts: the folder ``.adding`` is emptied by the next who
adds. See :mod:`ciphermark_adapters.added` for what a build consists of.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated, Any

import typer

import ciphermark_adapters
from ciphermark_adapters import added, registry
from ciphermark_adapters.added import AddedBuild
from ciphermark_adapters.provenance import BINARY
from ciphermark_benchmark.cli._output import console_for
from ciphermark_benchmark.cli.adapters import complaint
from ciphermark_core import wire
from ciphermark_core.errors import UserError
from ciphermark_core.model import LibraryInfo
from ciphermark_present.console import Terminal, styled

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,47}")
_SCRATCH = ".adding"
_OLD = "old@"  # prefix of a build that is being replaced; no build's name has it
_PREFIX = "prefix"  # folder of a library that was compiled here
_SET_UP = Path(ciphermark_adapters.__file__).parents[3] / "setup" / "added_builds.py"
_CHECK_S = 600


app = typer.Typer(
    add_completion=False,
    help="Your own builds of libraries: add, list, show, refresh, remove.",
    epilog="[bold]Example[/bold]  ciphermark build add seal-mine --library seal --prefix /opt/seal",
    no_args_is_help=True,
)
_EXAMPLES = """[bold]Examples[/bold]

  ciphermark build add seal-mine --library seal --prefix /opt/seal

  ciphermark build add seal-o1 --library seal --flags "-O1"

  ciphermark build add seal-clang --library seal --compiler clang++ --flags "-O3" --hexl

  ciphermark build add openfhe-mine --library openfhe --environment ~/venvs/openfhe
"""


@app.command("add", epilog=_EXAMPLES)
def add(  # noqa: PLR0913, PLR0917 - each parameter is an option of the command line
    name: Annotated[str, typer.Argument(help="Name of the new variant.")],
    library: Annotated[str, typer.Option(help="Library, by the folder of its adapter.")],
    prefix: Annotated[
        Path | None, typer.Option(help="Installation prefix of the library, with its headers.")
    ] = None,
    environment: Annotated[Path | None, typer.Option(help="Python environment with the library.")] = None,
    compiler: Annotated[str | None, typer.Option(help="Compiler for the bundled sources.")] = None,
    flags: Annotated[
        str | None, typer.Option(help="Compiler flags instead of -O3.", show_default=False)
    ] = None,
    hexl: Annotated[bool, typer.Option("--hexl/--no-hexl", help="Build with Intel HEXL.")] = False,
) -> None:
    """Add a build, compiled here or already installed. It is checked and becomes a variant."""
    console = console_for()
    request = Request(name, library, prefix, environment, compiler, flags, hexl)
    require_possible(request, sorted(registry.declarations()))
    with _alone() as scratch:
        folder = scratch / name
        folder.mkdir()
        AddedBuild(name, library, "", "", request.as_dict()).write(folder)
        build = _made(folder, scratch)
        folder.rename(added.builds_folder() / name)
    console.print(styled("[green]added[/green] [bold]{}[/bold]", name))
    _tell(console, build)
    console.print(
        f"Compare it in a suite: `variants: [{build.base}, {name}]`",
        soft_wrap=True,
    )


@app.command("list", epilog="[bold]Example[/bold]  ciphermark build list")
def list_all() -> None:
    """List added builds and whether they are usable."""
    console = console_for()
    builds = added.all_builds()
    if not builds:
        console.print("No builds. See: ciphermark build add --help")
    for name, build in builds.items():
        against = added.reason_against(name)
        state = "[green]{}[/green]" if against is None else "[red]{}[/red]"
        line = styled(
            f"[bold]{{}}[/bold]  {{}}  {state}", name, build.origin, ": ".join(against or ("usable",))
        )
        console.print(line, soft_wrap=True)


@app.command("show", epilog="[bold]Example[/bold]  ciphermark build show seal-mine")
def show(name: Annotated[str, typer.Argument(help="Name of a build.")]) -> None:
    """Show a build: origin, compiler, flags, digest of its binary."""
    build = added.all_builds().get(name)
    if build is None:
        raise _unknown(name)
    console = console_for()
    against = added.reason_against(name)
    if against is not None:
        console.print(styled("[red]{}[/red]; {}", *against), soft_wrap=True)
    _tell(console, build)


@app.command("refresh", epilog="[bold]Example[/bold]  ciphermark build refresh")
def refresh(
    names: Annotated[list[str] | None, typer.Argument(help="Names of builds. Default: all.")] = None,
) -> None:
    """Rebuild native modules whose adapter sources have changed. `make setup` does this, too."""
    builds = added.all_builds()
    for name in names or ():
        if name not in builds:
            raise _unknown(name)
    stale = [name for name in names or builds if added.is_stale(builds[name])]
    for name in stale:
        _rebuilt(builds[name])
    console_for().print(f"Rebuilt: {', '.join(stale)}" if stale else "All builds are up to date.")


@app.command("remove", epilog="[bold]Example[/bold]  ciphermark build remove seal-mine")
def remove(name: Annotated[str, typer.Argument(help="Name of a build.")]) -> None:
    """Remove a build. Its results stay."""
    if name not in added.all_builds():
        raise _unknown(name)
    with _alone() as scratch:
        (added.builds_folder() / name).rename(scratch / name)
    typer.echo(f"{name} is removed; its results stay")


def _tell(console: Terminal, build: AddedBuild) -> None:
    rows = {"origin": build.origin, "version": build.version, "base": build.base, "added": build.added_at}
    for label, text in {**rows, **build.facts}.items():
        console.print(f"  {label}: {text}", soft_wrap=True)


@dataclass(frozen=True, slots=True)
class Request:
    """The requested build: a prefix, an environment, or the bundled sources with a compiler and flags."""

    name: str
    library: str
    prefix: Path | None = None
    environment: Path | None = None
    compiler: str | None = None
    flags: str | None = None
    hexl: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The origin of the library with absolute paths, ready for JSON."""
        return {
            "prefix": None if self.prefix is None else str(self.prefix.absolute()),
            "environment": None if self.environment is None else str(self.environment.absolute()),
            "compiler": self.compiler,
            "flags": self.flags,
            "hexl": self.hexl,
        }


def require_possible(request: Request, taken: Sequence[str]) -> None:
    """Raise ``UserError`` for an invalid or taken name, and for a library that cannot be built from
    this origin. Pure.
    """
    if not _NAME.fullmatch(request.name):
        raise UserError(
            f"{request.name!r} is not a valid name: use up to 48 of a-z, 0-9, `-`, `_` and `.`; begin with a letter or "
            "digit"
        )
    if request.name in taken:
        raise UserError(f"the variant {request.name} already exists: use another name")
    takers = takes()
    if request.library not in takers:
        raise UserError(f"{request.library!r} does not support added builds; libraries: {', '.join(takers)}")
    options_given = {name for name, value in request.as_dict().items() if value}
    odd = sorted(options_given - set(takers[request.library]))
    if odd:
        options = ", ".join(f"--{name}" for name in takers[request.library])
        raise UserError(f"--{odd[0]} does not apply to {request.library}; options: {options}")
    if request.prefix is not None and len(options_given) > 1:
        other = sorted(options_given - {"prefix"})[0]
        raise UserError(f"--prefix names a compiled library: omit --{other}")


def takes() -> Mapping[str, tuple[str, ...]]:
    """The options of each library that supports added builds, by the name of its folder."""
    declared = registry.shipped().values()
    return {item.implementation.split(".")[1]: item.built_from for item in declared if item.built_from}


def _unknown(name: str) -> UserError:
    """The error for a name that no build has."""
    names = ", ".join(added.all_builds()) or "none yet"
    return UserError(f"no build {name!r}; builds: {names}")


def _say(text: str) -> None:
    console_for().print(text, soft_wrap=True)


def _rebuilt(build: AddedBuild) -> None:
    """Rebuild a build; a failure leaves the old one in place."""
    _say(f"{build.name}: {build.origin}")
    place = added.builds_folder() / build.name
    with _alone() as scratch:
        folder = scratch / build.name
        folder.mkdir()
        if (place / _PREFIX).is_dir():
            shutil.copytree(place / _PREFIX, folder / _PREFIX)  # avoids another compilation of SEAL itself
        AddedBuild(build.name, build.library, "", "", build.request).write(folder)
        renewed = _made(folder, scratch)
        if renewed.facts.get(BINARY) != build.facts.get(BINARY):
            raise UserError(
                f"{build.name}: the library at its origin has changed. Remove the build, then add it under another name"
            )
        place.rename(scratch / f"{_OLD}{build.name}")
        folder.rename(place)


def _made(folder: Path, scratch: Path) -> AddedBuild:
    """Compile and check the build that ``build.json`` in a folder requests."""
    _compile(folder)
    unchecked = added.read(folder)
    assert unchecked is not None
    _say("Checking encryption, addition, multiplication and decryption in every scheme")
    info = _checked(unchecked.name, scratch)
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    build = replace(unchecked, hexl=info.hexl, version=info.version, facts=info.build, added_at=now)
    build.write(folder)
    return build


def _compile(folder: Path) -> None:
    if not _SET_UP.is_file():
        raise UserError("adding builds requires an installation from the repository")
    process = subprocess.Popen(
        [sys.executable, str(_SET_UP), str(folder), str(os.getpid())],
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        _, complaint = process.communicate()
    except BaseException:
        process.terminate()  # it ends its own child processes
        process.wait()
        raise
    if process.returncode != 0:
        raise UserError(
            complaint.decode(errors="replace").strip() or "the compilation ended without a message"
        )


def _checked(name: str, scratch: Path) -> LibraryInfo:
    """The facts that the build reports after a correct computation; the library is loaded from the scratch folder."""
    python = scratch / name / added.ENVIRONMENT / "bin" / "python"
    command = [str(python), "-m", "ciphermark_measure.self_check", name]
    env = {**os.environ, added.PATH_VARIABLE: str(scratch)}
    try:
        done = subprocess.run(command, capture_output=True, timeout=_CHECK_S, check=False, env=env)
    except subprocess.TimeoutExpired:
        raise UserError(f"the checks exceeded {_CHECK_S} s; the build is not added") from None
    if done.returncode != 0:
        message = complaint(done.stderr, done.returncode)
        raise UserError(f"the checks failed; the build is not added: {message}")
    return wire.from_line(done.stdout, LibraryInfo)


@contextmanager
def _alone() -> Iterator[Path]:
    """An empty scratch folder next to the builds, used exclusively by this process and removed afterwards."""
    builds_folder = added.builds_folder()
    try:
        builds_folder.mkdir(parents=True, exist_ok=True)
        lock = (builds_folder / ".lock").open("w")
    except OSError as error:
        raise UserError(f"{builds_folder}: cannot store builds: {error.strerror}") from None
    with lock as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError("another build is in progress: wait for it to finish") from None
        scratch = builds_folder / _SCRATCH
        for old in scratch.glob(f"{_OLD}*"):  # a process was killed while it replaced a build
            if not (builds_folder / old.name.removeprefix(_OLD)).exists():
                old.rename(builds_folder / old.name.removeprefix(_OLD))
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        try:
            yield scratch
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
