"""What is installed, asked of real processes: how often, and what becomes of those that fail or take long."""

from __future__ import annotations

import asyncio
import os
import sys

import psutil
import pytest

from ciphermark_benchmark.api import state
from ciphermark_benchmark.api.state import Libraries
from ciphermark_core.errors import UserError


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """Make the process that is asked execute a line; returns how often it did, and the folder of an installation."""
    folder, count = tmp_path / "site-packages", tmp_path / "count"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))

    def begin(line):
        program = f"import os, sys, time; open({str(count)!r}, 'a').write(f'{{os.getpid()}}\\n'); {line}"
        monkeypatch.setattr(state, "_COMMAND", (sys.executable, "-c", program))

    def pids():
        return [int(text) for text in count.read_text().split()] if count.exists() else []

    return begin, pids, folder


def test_the_answer_is_kept_until_something_is_installed(asked):
    begin, pids, folder = asked
    begin("print('[1]')")

    async def ask():
        found = Libraries()
        first = await asyncio.gather(found.answer(), found.answer())
        assert first == [b"[1]\n"] * 2
        assert await found.answer() == first[0]
        assert len(pids()) == 1
        os.utime(folder, (1, 1))
        assert await found.answer() == first[0]
        assert len(pids()) == 2

    asyncio.run(ask())


def test_a_failure_is_told_and_asked_again(asked):
    begin, pids, _ = asked

    async def ask():
        found = Libraries()
        begin("sys.exit('no such folder')")
        with pytest.raises(UserError, match="cannot be described: no such folder"):
            await found.answer()
        begin("print('[]')")
        assert await found.answer() == b"[]\n"

    asyncio.run(ask())
    assert len(pids()) == 2


def test_nobody_waits_for_it_at_the_end(asked):
    begin, pids, _ = asked
    begin("time.sleep(600)")

    async def ask():
        found = Libraries()
        found.begun()
        while not pids():
            await asyncio.sleep(0.01)
        await found.close()

    asyncio.run(ask())
    (pid,) = pids()
    assert not psutil.pid_exists(pid)
