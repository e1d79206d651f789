"""Searches for pieces of a secret key: in files, processes, traffic and databases, as bytes and as text."""

from __future__ import annotations

import base64
import errno
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil
import psycopg
from processes import has_ended

PIECE_BYTES = 48
READ_BYTES = 1 << 24

_TABLES = """
select format('%I.%I', nspname, relname)
from pg_class join pg_namespace on pg_namespace.oid = relnamespace
where relkind in ('r', 'p', 'm') and nspname not in ('pg_catalog', 'information_schema')
"""


def pieces_of(confession: Path) -> list[bytes]:
    """Pieces of the secret key as SEAL serializes it and holds it in memory, none a repetition of few bytes."""
    data = confession.read_bytes()
    step = len(data) // 16
    cut = [data[start : start + PIECE_BYTES] for start in range(step, len(data) - PIECE_BYTES, step)]
    found = [piece for piece in cut if len(set(piece)) > 6]
    assert len(found) > 10
    return found


def in_any_form(piece: bytes) -> tuple[bytes, ...]:
    """The bytes, and how they look as text."""
    texts = [piece.hex().encode(), piece.hex().upper().encode()]
    for shift in range(3):  # base64 depends on where in the data the piece begins
        whole = base64.b64encode(piece[shift : shift + 45])
        texts += [whole, base64.urlsafe_b64encode(piece[shift : shift + 45])]
    return (piece, *texts)


def count(data: bytes, pieces: Iterable[bytes]) -> int:
    """How many of the pieces are in the data, in any form."""
    return sum(any(form in data for form in in_any_form(piece)) for piece in pieces)


def holding(paths: Iterable[Path], pieces: list[bytes]) -> list[Path]:
    """The files in which a piece is; those that vanish meanwhile hold nothing any more."""
    found = []
    for path in paths:
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            continue
        except OSError as error:
            if error.errno != errno.EINVAL:  # what of /proc can only be written holds nothing
                raise
            continue
        if count(data, pieces):
            found.append(path)
    return found


def files_in(folder: Path) -> list[Path]:
    """All files in a folder and those below it."""
    return [path for path in folder.rglob("*") if path.is_file()]


def tree_of(pid: int) -> list[psutil.Process]:
    """A process and all that descend from it."""
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


def files_of(process: psutil.Process, since_s: float) -> set[Path]:
    """The files that a process maps or has open and that were changed since then, removed ones that it has open
    included: a library that was there before the key holds none of it.
    """
    mapped = {Path(item.path) for item in process.memory_maps() if item.path.startswith("/")}
    opened = {Path(f"/proc/{process.pid}/fd/{name}") for name in os.listdir(f"/proc/{process.pid}/fd")}
    files = {path for path in mapped | opened if path.is_file()}
    assert files
    return {path for path in files if path.stat().st_ctime >= since_s}


def found_in_memory(pid: int, pieces: list[bytes]) -> int:
    """How many of the pieces are in the memory of a process, as they are. Raises ``ProcessLookupError`` for one that
    ends while it is looked through.
    """
    size_bytes, found = 0, set()
    for block in _memory_of(pid):
        size_bytes += len(block)
        found |= {piece for piece in pieces if piece in block}
    if size_bytes <= 1 << 20:
        assert has_ended(pid)
        raise ProcessLookupError(pid)
    return len(found)


def _memory_of(pid: int) -> Iterator[bytes]:
    """All that is mapped into a process and can be read, block by block, each with the beginning of the next."""
    with Path(f"/proc/{pid}/maps").open() as maps, Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        for line in maps:
            span, permissions, *_ = line.split()
            if permissions[0] != "r" or line.rstrip().endswith(("[vvar]", "[vsyscall]", "[vvar_vclock]")):
                continue
            if permissions[1] != "w" and "/" in line:
                continue  # a file's content: see files_of
            first, last = (int(part, 16) for part in span.split("-"))
            for start in range(first, last, READ_BYTES):
                memory.seek(start)
                try:
                    yield memory.read(min(READ_BYTES + 4 * PIECE_BYTES, last - start))
                except OSError:
                    break  # a device's memory


def tables_of(url: str) -> dict[tuple[str, str], bytes]:
    """Every table of a database with all its rows, by its name and form: ``text`` (bytea in hex) and ``binary``."""
    found = {}
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        for (table,) in cursor.execute(_TABLES).fetchall():
            for form in ("text", "binary"):
                with cursor.copy(f"copy (select * from {table}) to stdout (format {form})") as rows:
                    found[table, form] = b"".join(map(bytes, rows))
    return found


def data_folder_of(superuser_url: str) -> Path:
    """The folder of a server on this host, into which everything is written that was in the server's memory alone."""
    with psycopg.connect(superuser_url, autocommit=True) as connection:
        connection.execute("checkpoint")
        (folder,) = connection.execute("show data_directory").fetchone()
    return Path(folder)
