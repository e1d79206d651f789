"""Memory by the kernel's own account: resident set and its high-water mark, in bytes."""

from __future__ import annotations

from pathlib import Path

_STATUS = Path("/proc/self/status")
_CLEAR_REFS = Path("/proc/self/clear_refs")
_RESET_PEAK = "5"  # proc(5): resets the high-water mark of the resident set


def reset_peak() -> bool:
    """Set the high-water mark to the present resident set; False where the kernel refuses."""
    try:
        _CLEAR_REFS.write_text(_RESET_PEAK)
    except OSError:
        return False
    return True


def peak_bytes() -> int | None:
    """Highest resident set since the last reset; ``None`` where the kernel does not tell."""
    try:
        text = _STATUS.read_text()
    except OSError:
        return None
    for line in text.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return None
