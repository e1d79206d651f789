"""``ciphermark``: the command line. It loads before Ctrl-C takes effect."""

from __future__ import annotations

from collections.abc import Callable

from ciphermark_core import loading


def main() -> None:
    """Execute a command. Exit codes: 0 success, 1 failure of the environment, 2 the user's mistake, 130 interrupted."""
    loading.run(_loaded)


def _loaded() -> Callable[[], None]:
    from ciphermark_benchmark.cli import _commands

    return _commands.execute


if __name__ == "__main__":
    main()
