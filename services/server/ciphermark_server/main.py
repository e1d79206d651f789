"""``ciphermark-server``: the service as a command."""

from __future__ import annotations

import os

from ciphermark_server.app import PORT, make
from ciphermark_web import serving


def main() -> None:
    """Settings come from the environment: see docs/services.md."""
    serving.run("server", PORT, make, os.environ)


if __name__ == "__main__":
    main()
