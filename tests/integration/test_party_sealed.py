"""Processes of one user keep out of each other's way: a client's party lets none of them read its memory.

Root may read all memory, by its capabilities: where the tests are root's, parties and those who look have none.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ciphermark_core import wire
from ciphermark_measure.parties import messages
from ciphermark_measure.probes.peak_memory import PeakMemory

_NO_CAPABILITIES = ("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all")
AS_A_USER = _NO_CAPABILITIES if os.geteuid() == 0 else ()
_LOOK = """
import sys
with open(f"/proc/{sys.argv[1]}/maps") as maps, open(f"/proc/{sys.argv[1]}/mem", "rb", buffering=0) as memory:
    heap = next(line for line in maps if "[heap]" in line)
    memory.seek(int(heap.partition("-")[0], 16))
    print(len(memory.read(64)))
"""
pytestmark = pytest.mark.skipif(
    bool(AS_A_USER) and shutil.which(AS_A_USER[0]) is None,
    reason="there is no setpriv (util-linux) here, to take root's capabilities from a party",
)


class Started:
    """A party of an ordinary user, spoken to as its services do."""

    def __init__(self, role: str, blobs: Path) -> None:
        command = [*AS_A_USER, sys.executable, "-m", "ciphermark_measure.parties.worker"]
        command += ["--role", role, "--blobs", str(blobs), "--memory-mb", "1500"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert isinstance(self.reply(), messages.Hello)

    def ask(self, request: messages.Request) -> object:
        assert self.process.stdin is not None
        self.process.stdin.write(wire.to_line(request))
        self.process.stdin.flush()
        return self.reply()

    def reply(self) -> object:
        assert self.process.stdout is not None
        return messages.read_reply(self.process.stdout.readline())

    def looked_into(self) -> subprocess.CompletedProcess[str]:
        """What another process of the same user gets of this one's memory."""
        command = [*AS_A_USER, sys.executable, "-c", _LOOK, str(self.process.pid)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[[str], Started]]:
    """Starts parties, and ends them."""
    parties: list[Started] = []

    def start(role: str) -> Started:
        parties.append(Started(role, tmp_path))
        return parties[-1]

    yield start
    for party in parties:
        party.end()


def test_a_client_is_closed_to_its_own_user_and_tells_its_peak_memory(
    started: Callable[[str], Started],
) -> None:
    client = started("client")
    folder = Path(f"/proc/{client.process.pid}")
    status = dict(
        line.split(":\t", 1) for line in (folder / "status").read_text().splitlines() if ":\t" in line
    )
    assert status["NoNewPrivs"] == "1"
    assert (folder / "environ").stat().st_uid == 0  # of what cannot be dumped, files are root's
    if os.geteuid() == 0:
        assert int((folder / "coredump_filter").read_text(), 16) == 0
    made = client.ask(messages.MakeKeys(variant="seal", workload="lmc-encrypted"))
    assert isinstance(made, messages.KeysMade)
    if PeakMemory().available() is None:  # else the kernel resets no high-water mark here
        assert any(sample.metric == "peak_memory" for sample in made.samples)
    looked = client.looked_into()
    assert looked.returncode != 0
    assert "PermissionError" in looked.stderr


def test_the_look_finds_what_is_open(started: Callable[[str], Started]) -> None:
    """The same look at a server's party, which has no secret."""
    assert started("server").looked_into().stdout == "64\n"
