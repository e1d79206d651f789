"""``ciphermark``: the command line, which loads before it hears Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable

from ciphermark_core import loading


def main() -> None:
    """Exit codes: 0 done, 1 the surroundings failed, 2 the user's mistake, 130 interrupted."""
    loading.run(_loaded)


def _loaded() -> Callable[[], None]:
    from ciphermark_benchmark.cli import _commands

    return _commands.execute


if __name__ == "__main__":
    main()
