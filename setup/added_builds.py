"""Compiles a user's build into a folder with a `build.json`: `python3 setup/added_builds.py FOLDER PARENT`.

`ciphermark build add`, the process PARENT, starts this and checks the result; nothing is moved to its final place here.
The function `added(order)` in the `recipe.py` next to the library's adapter returns the corresponding shipped variant
and the steps.
"""

import ctypes
import os
import re
import signal
import sys
from dataclasses import replace
from pathlib import Path

import recipes
from orders import Order, Taken
from places import LOGS
from progress import Progress
from runner import FailureError, Shell

from ciphermark_adapters import binaries
from ciphermark_adapters.added import adapter_digest, read

_PR_SET_PDEATHSIG = 1
_ERROR = re.compile(r"(?:\berror:|CMake Error|cannot find -l|No matching distribution|ERROR:)", re.IGNORECASE)


def main(folder: Path) -> int:
    """Compile; report a failure in one message."""
    build = read(folder)
    assert build is not None
    places = {
        name: Path(build.request[name]) for name in ("prefix", "environment") if build.request.get(name)
    }
    order = Order(name=build.name, folder=folder, **{**build.request, **places})
    LOGS.mkdir(parents=True, exist_ok=True)
    log_path = LOGS / f"build-{build.name}.log"
    try:
        taken = recipes.load(build.library).added(order)
        with log_path.open("w") as log:
            _carry_out(taken, Shell(log))
    except FailureError as failure:
        first = _first_error(log_path) if "exit code" in failure.what else ""
        print(f"{failure.what}{first}; {failure.advice}", file=sys.stderr)
        return 2
    outside = {str(path): binaries.digest(path) for path in taken.outside}
    finished = replace(build, base=taken.base, origin=taken.origin, outside=outside)
    replace(finished, adapter=adapter_digest(build.library)).write(folder)
    return 0


def _carry_out(taken: Taken, shell: Shell) -> None:
    progress = Progress(len(taken.steps))
    with progress.shown():
        for number, (title, action) in enumerate(taken.steps, start=1):
            with progress.stage(number, title):
                action(shell)


def _first_error(log: Path) -> str:
    """Return the first error line of a log, and the path of the log."""
    lines = log.read_text(errors="replace").splitlines()
    first = next((line.strip() for line in lines if _ERROR.search(line)), "")
    return f": {first} (the whole log: {log})"


def _end_with_parent(parent: int) -> None:
    """End with the command that started this process, and end all its descendants; this leads a process group."""
    signal.signal(signal.SIGTERM, _end)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        sys.exit("the command that started this is gone")


def _end(_number: int, _frame: object) -> None:
    """Signal the whole group to end: Ninja ends the compilers, which are in separate groups."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.killpg(0, signal.SIGTERM)
    sys.exit("asked to end")


if __name__ == "__main__":
    _end_with_parent(int(sys.argv[2]))
    sys.exit(main(Path(sys.argv[1])))
