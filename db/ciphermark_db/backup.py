"""Backup and restore of whole databases by ``pg_dump`` and ``pg_restore``, which come with the embedded server."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from ciphermark_core.errors import UserError
from ciphermark_db import embedded
from ciphermark_db.database import connect
from ciphermark_db.sql import blocks


def write(url: str, path: Path) -> None:
    """Write a database atomically to a file that only this user may read. Raises ``UserError`` on failure."""
    fresh = path.with_name(f".{path.name}.new")
    try:
        os.close(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        _run("pg_dump", url, "--format=custom", "--no-owner", "--no-privileges", f"--file={fresh}")
        os.replace(fresh, path)
    except OSError as error:
        raise UserError(f"{path}: cannot write the backup: {error.strerror}") from None
    finally:
        fresh.unlink(missing_ok=True)


def restore(url: str, path: Path) -> None:
    """Restore a backup into a migrated database. Raises ``UserError`` if runs are recorded in it, or if the file is no
    backup.
    """
    sql = blocks("restore")
    _run(
        "pg_restore", None, "--format=custom", "--list", str(path)
    )  # a file that is no backup destroys nothing
    with connect(url) as connection:
        if connection.execute(sql["has_runs"]).fetchone() == (True,):
            raise UserError("runs are recorded in this database: restore into an empty one")
        connection.execute(sql["clear"])
        _run("pg_restore", url, "--no-owner", "--no-privileges", "--single-transaction", str(path))
        connection.execute(sql["grant"])


def _run(tool: str, url: str | None, *arguments: str) -> None:
    """Run a tool, on a database if one is given. Raises ``UserError`` with the tool's message if it fails."""
    parts = conninfo_to_dict(url or "")
    password = parts.pop("password", None)  # every user can read the arguments of a process
    environment = os.environ | ({"PGPASSWORD": str(password)} if password else {})
    named = [f"--dbname={make_conninfo('', **parts)}"] if url else []
    done = subprocess.run(
        [embedded.tools() / tool, *named, *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise UserError(done.stderr.strip() or f"{tool} ended with exit code {done.returncode}")
