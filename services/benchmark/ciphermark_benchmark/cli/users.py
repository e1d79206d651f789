"""Users of the services: add, list and revoke them."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Annotated

import typer

from ciphermark_benchmark import data_directory as data_directories
from ciphermark_core.errors import UserError
from ciphermark_core.private import FILE_MODE, private_folder
from ciphermark_web.keyring import ROLES, USERS_VARIABLE, user_line, users_file, users_in

app = typer.Typer(add_completion=False, no_args_is_help=True)
_Name = Annotated[str, typer.Argument(help="Name of the user: letters, digits and . _ @ -")]


@app.callback(
    epilog="[bold]Examples[/bold]  ciphermark users add ada --role submitter; ciphermark users revoke ada"
)
def users() -> None:
    """Users of the services: add, list and revoke them."""


@app.command("add", epilog="[bold]Example[/bold]  ciphermark users add ada --role submitter")
def add(
    name: _Name,
    role: Annotated[
        str,
        typer.Option(help="reader: view. submitter: also start runs and cancel own runs. admin: everything."),
    ],
) -> None:
    """Add a user and print the token once. To rotate a token, add a second one, then revoke the oldest."""
    if role not in ROLES:
        raise UserError(f"--role {role}: use one of {', '.join(ROLES)}")
    path, token = _path(), secrets.token_urlsafe(32)
    _write(path, [*_lines(path), user_line(name, role, token)])
    typer.echo(token)


@app.command("list", epilog="[bold]Example[/bold]  ciphermark users list")
def list_() -> None:
    """List users with their roles, one line per token."""
    path = _path()
    users = [user for _, user in users_in("\n".join(_lines(path)), str(path))]
    for user in users:
        typer.echo(f"{user.name}  {user.role}")
    if not users:
        typer.echo("No users. Add one: ciphermark users add NAME --role ROLE", err=True)


@app.command("revoke", epilog="[bold]Example[/bold]  ciphermark users revoke ada --oldest")
def revoke(
    name: _Name,
    oldest: Annotated[
        bool, typer.Option("--oldest", help="Revoke only the oldest token, to finish a rotation.")
    ] = False,
) -> None:
    """Revoke a user's tokens. Their sessions end without a restart."""
    path = _path()
    lines = _lines(path)
    mine = [line for line in lines if line.partition(":")[0] == name]
    if not mine:
        raise UserError(f"{path} has no user {name}; see `ciphermark users list`")
    revoked = mine[:1] if oldest else mine
    _write(path, [line for line in lines if line not in revoked])
    typer.echo(f"revoked: {len(revoked)} of {len(mine)} tokens of {name}")


def _path() -> Path:
    path = users_file(os.environ, data_directories.find().folder)
    assert path is not None  # a data directory is given
    return path


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot read: {error}; set {USERS_VARIABLE} to another file") from None


def _write(path: Path, lines: list[str]) -> None:
    """Replace the file atomically, since services may read it at any time. Raises ``UserError`` on failure."""
    text = "".join(f"{line}\n" for line in lines)
    users_in(text, str(path))
    fresh = path.with_name(f"{path.name}.new")
    try:
        private_folder(path.parent)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE_MODE)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(fresh, path)
    except OSError as error:
        raise UserError(
            f"{path}: cannot write: {error.strerror}; set {USERS_VARIABLE} to another file"
        ) from None
