"""A data directory on a disk that turns read-only, as after an error: it is told, everything waits, and nothing is
lost."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from command import TINY, Ciphermark
from disks import mounted
from processes import wait_until


@dataclass
class Disk:
    """A disk of its own, mounted."""

    folder: Path

    @property
    def data_directory(self) -> Path:
        return self.folder / "data"

    def switch(self, options: str) -> None:
        """Remount it: ``ro`` or ``rw``; as soon as nobody has a file open for writing."""
        command = ["mount", "-o", f"remount,{options}", str(self.folder)]
        wait_until(
            lambda: subprocess.run(command, check=False, capture_output=True).returncode == 0,
            f"the disk is {options}",
        )


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with mounted(tmp_path / "disk", "16m") as folder:
        yield Disk(folder)


def test_a_command_that_cannot_begin_says_so_in_a_line_and_others_answer(
    disk: Disk, new_url: Callable[[], str]
) -> None:
    command = Ciphermark(disk.data_directory, new_url())
    suite = str(command.suite(TINY | {"variants": ["cleartext"], "operations": ["add"]}))
    command("run", suite)
    disk.switch("ro")
    (line,) = command("run", suite, code=1).err.strip().splitlines()
    assert line.startswith(str(disk.data_directory))
    assert line.endswith(": Read-only file system")
    assert "1 ok" in command("results", "last").out
    assert command.rows("select count(*) as n from trial") == [{"n": 1}]
    disk.switch("rw")
    command("run", suite)
    assert command.rows("select count(*) as n from trial") == [{"n": 2}]
