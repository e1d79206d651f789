"""Builds of your own: variants beside the shipped ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from ciphermark_adapters import added
from ciphermark_adapters.added import AddedBuild
from ciphermark_benchmark.builds import adding
from ciphermark_benchmark.cli._output import console_for

app = typer.Typer(
    add_completion=False,
    help="Builds of your own: variants beside the shipped ones.",
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
    name: Annotated[str, typer.Argument(help="Name of the variant.")],
    library: Annotated[str, typer.Option(help="The folder of its adapter.")],
    prefix: Annotated[
        Path | None, typer.Option(help="Where the library is installed, with its headers.")
    ] = None,
    environment: Annotated[
        Path | None, typer.Option(help="A Python environment that has the library.")
    ] = None,
    compiler: Annotated[str | None, typer.Option(help="Compiler for the sources that set-up has.")] = None,
    flags: Annotated[
        str | None, typer.Option(help="Its flags, in the place of -O3.", show_default=False)
    ] = None,
    hexl: Annotated[bool, typer.Option("--hexl/--no-hexl", help="With Intel HEXL.")] = False,
) -> None:
    """Add a build: compiled or taken from where it is installed, checked, and from then on a variant like any other."""
    console = console_for()
    request = adding.Request(name, library, prefix, environment, compiler, flags, hexl)
    build = adding.add(request, lambda text: console.print(escape(text), soft_wrap=True))
    console.print(f"[green]added[/green] [bold]{escape(name)}[/bold]")
    _tell(console, build)
    console.print(
        f"It is a variant now: `variants: [{build.base}, {escape(name)}]` in a suite compares the two."
    )


@app.command("list", epilog="[bold]Example[/bold]  ciphermark build list")
def list_all() -> None:
    """The builds that were added, and whether they can be used as they were."""
    console = console_for()
    builds = added.all_builds()
    if not builds:
        console.print("no build was added; see: ciphermark build add --help")
    for name, build in builds.items():
        against = added.reason_against(name)
        state = "[green]usable[/green]" if against is None else f"[red]{escape(': '.join(against))}[/red]"
        console.print(f"[bold]{escape(name)}[/bold]  {escape(build.origin)}  {state}", soft_wrap=True)


@app.command("show", epilog="[bold]Example[/bold]  ciphermark build show seal-mine")
def show(name: Annotated[str, typer.Argument(help="Name of a build.")]) -> None:
    """What is known of a build: where it is from, compiler, flags, digest of its binary."""
    build = added.all_builds().get(name)
    if build is None:
        raise adding.unknown(name)
    console = console_for()
    against = added.reason_against(name)
    if against is not None:
        console.print(f"[red]{escape(against[0])}[/red]; {escape(against[1])}", soft_wrap=True)
    _tell(console, build)


@app.command("refresh", epilog="[bold]Example[/bold]  ciphermark build refresh")
def refresh(
    names: Annotated[
        list[str] | None, typer.Argument(help="Names of builds; all where none is given.")
    ] = None,
) -> None:
    """Make native modules anew that are of other sources than the adapter's: set-up does it, too."""
    console = console_for()
    done = adding.refresh(names or [], lambda text: console.print(escape(text), soft_wrap=True))
    console.print(f"made anew: {', '.join(done)}" if done else "every build is up to date")


@app.command("remove", epilog="[bold]Example[/bold]  ciphermark build remove seal-mine")
def remove(name: Annotated[str, typer.Argument(help="Name of a build.")]) -> None:
    """Forget a build. What was measured with it stays."""
    adding.remove(name)
    typer.echo(f"{name} is no variant any more; its results stay")


def _tell(console: Console, build: AddedBuild) -> None:
    rows = {"from": build.origin, "version": build.version, "driven as": build.base, "added": build.added_at}
    for label, text in {**rows, **build.facts}.items():
        console.print(f"  {label}: {escape(text)}", soft_wrap=True)
