"""How often the kernel has killed for lack of memory: who dies of SIGKILL may have been killed by anybody."""

from __future__ import annotations

from pathlib import Path

_GROUPS = Path("/sys/fs/cgroup")
_OWN_GROUP = Path("/proc/self/cgroup")
_UNIFIED = "0::/"  # of version 2; what lies behind it is relative to what is mounted
_HOST = Path("/proc/vmstat")
_NAME = "oom_kill"


def kills() -> int | None:
    """Processes that the kernel has killed for lack of memory, in this process's control group where it counts them,
    else on the machine; ``None`` where neither is told. The kernel counts a kill before it sends the signal.
    """
    for path in (*_own_groups(), _HOST):
        found = _count(path)
        if found is not None:
            return found
    return None


def since(before: int | None) -> int | None:
    """How many more there are than before; ``None`` where that is not known."""
    now = kills()
    return None if before is None or now is None else now - before


def _own_groups() -> list[Path]:
    """The file of events of this process's control group, in version 2."""
    lines = (_text(_OWN_GROUP) or "").splitlines()
    names = [line.removeprefix(_UNIFIED) for line in lines if line.startswith(_UNIFIED)]
    return [_GROUPS / name / "memory.events" for name in names]


def _count(path: Path) -> int | None:
    for line in (_text(path) or "").splitlines():
        name, _, value = line.partition(" ")
        if name == _NAME and value.strip().isdecimal():
            return int(value)
    return None


def _text(path: Path) -> str | None:
    try:
        return path.read_text()
    except OSError:
        return None
