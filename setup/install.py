"""Installs what Ciphermark needs, in stages, into `.venv` and `.build`; a second run does only what is new.

python3 setup/install.py            everything
python3 setup/install.py --list     the stages, and which are up to date
"""

import sys

if sys.version_info < (3, 11):
    sys.exit(f"Ciphermark needs Python 3.11 or newer; {sys.executable} is {sys.version.split()[0]}.")

import argparse
import fcntl
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import recipes
from places import BUILD, LOGS, STAMPS, WORK
from runner import Missing, Stage, run_stages
from stages import all_stages


def main() -> int:
    """Run the command line and return the exit code."""
    options = _parse_options()
    for folder in (LOGS, STAMPS, WORK):
        folder.mkdir(parents=True, exist_ok=True)
    stages = all_stages(options.without)
    if options.only or options.libraries:
        of_libraries = [stage.name for stage in recipes.stages(options.without)] if options.libraries else []
        stages = _with_needs(stages, [*options.only, *of_libraries])
    if options.list:
        _print_list(stages)
        return 0
    started_s = time.monotonic()
    with _alone():
        worked, missing = run_stages(stages)
    _summarize(worked, missing, time.monotonic() - started_s)
    return 0 if all(entry.is_optional for entry in missing) else 1


def _parse_options() -> argparse.Namespace:
    names = [stage.name for stage in all_stages()]
    summary, _, usage = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=usage, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", nargs="+", metavar="STAGE", choices=names, default=[], help="only these, and what they need"
    )
    parser.add_argument("--libraries", action="store_true", help="only the libraries, and what they need")
    parser.add_argument(
        "--without",
        nargs="+",
        metavar="STAGE",
        choices=names,
        default=[],
        help="all but these, and what needs them",
    )
    parser.add_argument("--list", action="store_true", help="list the stages and stop")
    return parser.parse_args()


def _with_needs(stages: Sequence[Stage], names: Sequence[str]) -> list[Stage]:
    """Return the named stages, preceded by all stages that they need."""
    wanted = set(names)
    for stage in reversed(stages):
        if stage.name in wanted:
            wanted.update(stage.needs)
    return [stage for stage in stages if stage.name in wanted]


def _print_list(stages: Sequence[Stage]) -> None:
    for stage in stages:
        state = "up to date" if stage.is_current() else "to do"
        print(f"{stage.name:18} {state:11} {stage.title}")


def _summarize(worked: int, missing: Sequence[Missing], elapsed_s: float) -> None:
    if missing:
        print(f"Setup ended after {elapsed_s:.0f} s. Missing:")
        for entry in missing:
            mark = " (optional: everything else works without it)" if entry.is_optional else ""
            print(f"  {entry.name:18} {entry.reason}{mark}")
    elif worked:
        print(f"Setup is complete, after {elapsed_s:.0f} s.")
    else:
        print("Setup is complete.")


@contextmanager
def _alone() -> Iterator[None]:
    """Hold the lock of this repository's setup: wait for other setups, and block new ones."""
    with (BUILD / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another setup is running here; waiting for it …", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("\nInterrupted; the stages that ended are kept.")
