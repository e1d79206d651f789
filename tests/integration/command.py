"""The command line as its users have it: processes with a data directory of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import processes
import psutil
import psycopg
import warm
from processes import PATIENCE_S, command_line
from warm import PROGRAM, Forked

PLANTED = Path(__file__).parent / "planted"
REPOSITORY = Path(__file__).parents[2]

Running = subprocess.Popen[bytes] | Forked

# A suite that costs next to nothing: the plainest parameters, few samples, no least time.
CHEAP = {"min_samples": 3, "warmups": 1, "min_time_s": 0.0, "timeout_s": 300, "memory_mb": 1024}
TINY = {"kind": "arithmetic", "schemes": ["bfv"], "ring_dimension": [1024], "modulus_bits": [27]}


@dataclass(frozen=True)
class Done:
    """A command that ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Ciphermark:
    """Runs commands in a data directory; without ``database_url`` with the embedded server."""

    data_directory: Path
    database_url: str | None = None
    extra: dict[str, str] = field(default_factory=dict)

    def __call__(self, *arguments: str, code: int | None = 0, timeout_s: float = PATIENCE_S) -> Done:
        """Run a command to its end; its exit code must be ``code``, and nothing may look like a bug."""
        # What an interpreter reads when it starts, it must read again.
        is_warm = not any(name.startswith("PYTHON") for name in self.extra)
        process = self.fork(*arguments) if is_warm else self.start(*arguments)
        try:
            out, err = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return self.ended(process.returncode, out, err, code)

    def ended(self, returned: int | None, out: bytes, err: bytes, code: int | None) -> Done:
        done = Done(returned, out.decode(), err.decode())
        assert "Traceback" not in done.out + done.err, done.err
        assert code is None or done.code == code, f"exit code {done.code}\n{done.out}\n{done.err}"
        return done

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a command, with a fresh interpreter, and leave it to itself."""
        return subprocess.Popen(
            [str(PROGRAM), *arguments],
            env=self.environment(),
            cwd=REPOSITORY,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def fork(self, *arguments: str) -> Forked:
        """The same, with an interpreter that has loaded the program."""
        return warm.command(arguments, self.environment(), REPOSITORY)

    def environment(self) -> dict[str, str]:
        made = {"CIPHERMARK_DATA": str(self.data_directory), "CIPHERMARK_ADAPTER_PATH": str(PLANTED)}
        if self.database_url is not None:
            made["CIPHERMARK_DATABASE_URL"] = self.database_url
        return processes.environment(**made) | self.extra

    def suite(self, *experiments: dict[str, object], name: str = "planted", **budget: object) -> Path:
        """Write a suite file (JSON is YAML)."""
        self.data_directory.parent.mkdir(parents=True, exist_ok=True)
        path = self.data_directory.parent / f"{name}.yaml"
        text = {"name": name, "budget": CHEAP | budget, "experiments": list(experiments)}
        path.write_text(json.dumps(text, indent=1))
        return path

    def rows(self, query: str) -> list[dict[str, object]]:
        """What ``ciphermark sql`` answers."""
        return json.loads(self("sql", query, "--format", "json").out)

    def journals(self) -> list[Path]:
        return sorted((self.data_directory / "journal").glob("*/*.jsonl"))

    def outcomes(self) -> list[dict[str, object]]:
        """The whole lines of the only journal, without its header."""
        (path,) = self.journals()
        _, *lines = path.read_bytes().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith(b"\n")]

    def outcome_count(self) -> int:
        return len(self.outcomes()) if self.journals() else 0

    def run_id(self) -> str:
        (path,) = self.journals()
        return path.stem


class Gate:
    """Holds back the variant ``planted-waits``: see ``waits`` in its ``deeds.py``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def arrived(self) -> int:
        path = self.folder / "arrivals"
        return len(path.read_text().split()) if path.exists() else 0

    def let_pass(self, *numbers: int) -> None:
        for number in numbers:
            (self.folder / f"pass-{number}").touch()


def workers_of(process: Running) -> list[psutil.Process]:
    """The worker processes of a command."""
    try:
        children = psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
    return [child for child in children if "ciphermark_measure.worker" in command_line(child)]


def press_ctrl_c(process: Running) -> tuple[bytes, bytes]:
    """What a terminal does: interrupt everything in the foreground; returns what was printed."""
    os.killpg(process.pid, signal.SIGINT)
    return process.communicate(timeout=PATIENCE_S)


def kill(process: Running, number: int = signal.SIGKILL) -> tuple[bytes, bytes]:
    """Send a signal and wait for the end; returns what was printed."""
    process.send_signal(number)
    return process.communicate(timeout=PATIENCE_S)


def forget_all_but(database_url, trial_ids):
    """Leave in a database what it would have if a run had been killed after these trials."""
    with psycopg.connect(database_url) as connection:
        connection.execute(
            "delete from sample where series_id in (select id from series where trial_id <> all (%s))",
            [trial_ids],
        )
        for table in ("series", "trial_program", "trial_layer"):
            connection.execute(f"delete from {table} where trial_id <> all (%s)", [trial_ids])
        connection.execute("delete from trial where id <> all (%s)", [trial_ids])
