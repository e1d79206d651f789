"""``ciphermark-client``: the service as a command."""

from __future__ import annotations

import os
from collections.abc import Callable

from ciphermark_core import loading


def main() -> None:
    """Settings come from the environment: see docs/reference/environment.md."""
    loading.run(_loaded)


def _loaded() -> Callable[[], None]:
    from ciphermark_client.app import PORT, make
    from ciphermark_web import serving

    return lambda: serving.run("client", PORT, make, os.environ)


if __name__ == "__main__":
    main()
