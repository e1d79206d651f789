"""The server service, assembled."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import FastAPI
from starlette.middleware import Middleware

from ciphermark_parties import api as party_routes
from ciphermark_parties.host import PartyHost, PartySettings
from ciphermark_server import __version__, routes
from ciphermark_web.app import Service, assembled
from ciphermark_web.layers import Attended
from ciphermark_web.observe import Metrics
from ciphermark_web.serving import Listening

PORT = 8102
_DESCRIPTION = (
    "Evaluates circuits on ciphertexts, with a client's public material. It never holds a secret key."
)


def make(at: Listening, environ: Mapping[str, str]) -> FastAPI:
    """The application; raises ``UserError`` for invalid settings."""
    metrics = Metrics()
    parties = PartyHost("server", PartySettings.read(environ), metrics)

    return assembled(
        Service(
            title="Ciphermark server",
            description=_DESCRIPTION,
            version=__version__,
            keyring=at.keyring,
            routers=[routes.router(parties), party_routes.router(parties)],
            checks=parties.checks(),
            notes=parties.notes(),
            metrics=metrics,
            lifespan=lambda _: parties.kept(),
            innermost=[Middleware(Attended)],
        )
    )
