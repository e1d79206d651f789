"""What is installed where the API runs: told by a process of its own, since to load all libraries takes long."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from pathlib import Path

from ciphermark_adapters import added, interpreters, registry
from ciphermark_core.errors import UserError

_COMMAND = (sys.executable, "-m", "ciphermark_benchmark.cli.main", "adapters", "--format", "json")

Installation = tuple[tuple[str, int], ...]


class Libraries:
    """The answer of ``ciphermark adapters``, kept until something is installed or removed."""

    def __init__(self) -> None:
        self._of: Installation | None = None
        self._told: asyncio.Task[bytes] | None = None

    async def told(self) -> bytes:
        """The answer, as JSON; raises ``UserError`` where a declaration cannot be read."""
        return await asyncio.shield(self.begun())

    def begun(self) -> asyncio.Task[bytes]:
        """Begin to ask, unless the answer is known or on its way."""
        now = installation()
        if self._told is None or self._of != now or _has_failed(self._told):
            self._of, self._told = now, asyncio.create_task(_asked())
        return self._told

    async def close(self) -> None:
        """Wait for no answer any more."""
        if self._told is not None:
            self._told.cancel()
            await asyncio.wait({self._told})


def installation() -> Installation:
    """When something was last installed or removed in each folder that libraries and adapters are found in."""
    environments = {item.environment for item in registry.declarations().values()} - {None}
    folders = {Path(entry) for entry in sys.path if entry}
    for name in environments:
        folders.update(interpreters.folder(str(name)).glob("lib/python3.*/site-packages"))
    found = [(str(path), path.stat().st_mtime_ns) for path in sorted(folders) if path.is_dir()]
    return (*found, *added.state())


def _has_failed(task: asyncio.Task[bytes]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


async def _asked() -> bytes:
    process = await asyncio.create_subprocess_exec(
        *_COMMAND, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        out, err = await process.communicate()
    except asyncio.CancelledError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.communicate()  # its pipes are to be closed before the loop is
        raise
    if process.returncode != 0:
        raise UserError(f"the adapters cannot be described: {err.decode(errors='replace').strip()}")
    return out
