"""``ciphermark-client``: the service as a command."""

from __future__ import annotations

import os

from ciphermark_client.app import PORT, make
from ciphermark_web import serving


def main() -> None:
    """Settings come from the environment: see docs/services.md."""
    serving.run("client", PORT, make, os.environ)


if __name__ == "__main__":
    main()
