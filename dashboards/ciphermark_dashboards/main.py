"""``ciphermark-dashboard``: serves the pages."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable

from ciphermark_core import loading
from ciphermark_core.errors import UserError


def main() -> None:
    """Serve until SIGTERM or Ctrl-C; exit code 2 where the environment is invalid."""
    loading.run(_loaded)


def _loaded() -> Callable[[], None]:
    from ciphermark_dashboards import app, settings
    from ciphermark_web import environment
    from ciphermark_web.keyring import Keyring
    from ciphermark_web.serving import Listening, serve

    def serving() -> None:
        try:
            configuration = settings.from_environment()
            environment.forget_tokens(os.environ)
        except UserError as error:
            print(f"ciphermark-dashboard: {error}", file=sys.stderr)
            sys.exit(2)
        gc.set_threshold(50_000, 20, 50)  # pages create many rows at once
        serve(
            app.made(configuration),
            Listening(
                "dashboard",
                configuration.host,
                configuration.port,
                configuration.keyring or Keyring(),
                configuration.log_level,
            ),
        )

    return serving
