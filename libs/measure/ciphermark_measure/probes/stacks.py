"""Call stacks of this process, Python and native frames together, sampled by py-spy."""

from __future__ import annotations

import ctypes
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

from ciphermark_core.metrics import Metric, register
from ciphermark_measure.probes.base import Probe

R = TypeVar("R")
STACKS = "stacks"
_RATE = 50  # samples a second: each stops the process for some milliseconds
_ATTACHING_S = 20.0  # reading the symbols of large libraries takes seconds
_PR_SET_PTRACER = 0x59616D61
_MARK = "operation"  # the file of frames that :func:`marked` makes
_MARKED = re.compile(rf"(.*) \({_MARK}\)")
_ADDRESS = re.compile(r"0x[0-9a-f]+ \((.*)\)")
_LEAST_SHARE = 1e-3
# Native frames between a mark and the library: of the bindings, and of our loop.
_BINDINGS = ("nanobind::", "ciphermark::Bound", "ciphermark::KernelBound")


class Stacks(Probe):
    """``text`` has the stacks since :meth:`start`, as in ``Outcome.stacks``."""

    asked_as = STACKS
    metrics = (
        register(
            Metric(
                "stack_samples",
                "count",
                None,
                1.0,
                "stacks",
                "Sampled call stacks.",
                adds_up=False,
                probe=STACKS,
            )
        ),
    )
    spans = frozenset({"profile"})
    stops_process = True
    region_s = 3.0
    repetitions = 1

    def __init__(self) -> None:
        self.text = ""
        self._sampler: subprocess.Popen[bytes] | None = None
        self._file = Path()

    def available(self) -> str | None:
        """See :meth:`Probe.available`. Samples this process once."""
        if sampler() is None:
            return "py-spy is not installed; run `python3 setup/install.py`"
        try:
            self.start()
            self.stop()
        except OSError as error:
            return error.strerror
        return None

    def start(self) -> None:
        """See :meth:`Probe.start`. Raises ``OSError`` with the sampler's words if it may not read this process."""
        folder = tempfile.mkdtemp(prefix="ciphermark-stacks-")
        self._file = Path(folder) / "stacks"
        command = [
            str(sampler()),
            "record",
            "--native",
            "--nolineno",
            "--format",
            "raw",
            "--rate",
            str(_RATE),
        ]
        command += ["--pid", str(os.getpid()), "--output", str(self._file)]
        self._sampler = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        ctypes.CDLL(None).prctl(_PR_SET_PTRACER, self._sampler.pid, 0, 0, 0)  # where Yama restricts ptrace
        with suppress(OSError):  # the sampler needs a core of its own
            os.sched_setaffinity(self._sampler.pid, range(os.cpu_count() or 1))
        words = _until(self._sampler, b"Sampling process")
        if words is not None:
            self._end()
            raise OSError(0, f"py-spy cannot sample this process: {words}")

    def stop(self) -> Mapping[str, float]:
        assert self._sampler is not None
        self._sampler.send_signal(signal.SIGINT)
        self._sampler.communicate()
        self.text = tidied(self._file.read_text(errors="replace")) if self._file.exists() else ""
        self._end()
        return {"stack_samples": float(sum(count for _, count in stacks_of(self.text)))}

    def _end(self) -> None:
        assert self._sampler is not None
        self._sampler.kill()
        self._sampler.wait()
        if self._sampler.stdout is not None:
            self._sampler.stdout.close()
        shutil.rmtree(self._file.parent, ignore_errors=True)
        self._sampler = None


def sampler() -> Path | None:
    """The program py-spy: that of the environment of this interpreter or of its neighbor, else the one in ``PATH``."""
    prefix = Path(sys.prefix).resolve()
    ours = (folder / "bin" / "py-spy" for folder in (prefix, prefix.parent / ".venv"))
    elsewhere = shutil.which("py-spy")
    return next((path for path in ours if path.exists()), Path(elsewhere) if elsewhere else None)


def _until(process: subprocess.Popen[bytes], word: bytes) -> str | None:
    """Read what a process writes until it has written ``word``; else the last line that it wrote before its end."""
    assert process.stdout is not None
    text, deadline = b"", monotonic() + _ATTACHING_S
    while word not in text:
        ready, _, _ = select.select([process.stdout], [], [], max(0.0, deadline - monotonic()))
        piece = os.read(process.stdout.fileno(), 1 << 12) if ready else b""
        if not piece:
            lines = text.decode(errors="replace").split("\n")
            return next((line.strip() for line in reversed(lines) if line.strip()), "no answer")
        text += piece
    return None


def marked(name: str, action: Callable[..., R]) -> Callable[..., R]:
    """The action with a frame of this name in its stacks, which :func:`tidied` begins a stack with."""

    def mark(*arguments: Any) -> R:
        return action(*arguments)

    code: Any = mark.__code__
    names = {field: name for field in ("co_name", "co_qualname") if hasattr(code, field)}
    mark.__code__ = code.replace(co_filename=_MARK, **names)
    return mark


def tidied(text: str) -> str:
    """The sampler's stacks from the innermost mark on, by decreasing count; rare ones are left out. Pure.

    Names have neither template arguments nor parameters. Frames between the mark and the library are left out. A frame
    without a name has that of its library.
    """
    counts: Counter[tuple[str, ...]] = Counter()
    for frames, count in stacks_of(text):
        marks = [number for number, frame in enumerate(frames) if _MARKED.fullmatch(frame)]
        if marks:
            names = [_MARKED.sub(r"\1", frames[marks[-1]]), *map(_short, frames[marks[-1] + 1 :])]
            kept = [name for name in names if not name.startswith(_BINDINGS)]
            native = next((place for place, name in enumerate(kept[1:], 1) if not _is_python(name)), 1)
            counts[tuple(name for name, _ in groupby([kept[0], *kept[native:]]))] += count
    least = _LEAST_SHARE * counts.total()
    return "".join(
        f"{';'.join(frames)} {count}\n" for frames, count in counts.most_common() if count >= least
    )


def _is_python(name: str) -> bool:
    return name.endswith(".py)")


def _short(frame: str) -> str:
    """The name of a frame without template arguments and parameters."""
    name, _, file = frame.rpartition(" (")
    file = Path(file.rstrip(")")).name
    if _ADDRESS.match(frame):
        return file.partition(".")[0]
    if file.endswith(".py"):
        return f"{name.rpartition('.')[2]} ({file})"
    name = name.replace("(anonymous namespace)::", "")
    for inner in (r"(?<!operator)<[^<>]*>", r"\([^()]*\)", r"\{[^{}]*\}"):
        shorter = ""
        while shorter != name:
            shorter, name = name, re.sub(inner, "", name)
    name = name.removesuffix(" const")
    if not name.startswith("operator"):
        name = name.rpartition(" ")[2]  # without the type of its result
    return name or file.partition(".")[0]


def stacks_of(text: str) -> Iterator[tuple[list[str], int]]:
    """Frames and count of every line. Pure."""
    for line in text.splitlines():
        frames, _, count = line.rpartition(" ")
        yield frames.split(";"), int(count)
