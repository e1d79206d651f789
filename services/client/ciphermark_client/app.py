"""The client service, assembled."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import FastAPI
from starlette.middleware import Middleware

from ciphermark_client import __version__, routes
from ciphermark_client.data_sets import MAX_BYTES, DataSets
from ciphermark_parties import api as party_routes
from ciphermark_parties.host import PartyHost, PartySettings
from ciphermark_web import environment
from ciphermark_web.app import Service, assembled
from ciphermark_web.layers import Attended, BodyRule
from ciphermark_web.observe import Metrics
from ciphermark_web.serving import Listening

PORT = 8101
_DESCRIPTION = (
    "Makes keys, encrypts, decrypts and scores. Each session is a process that alone holds its secret key."
)


def make(at: Listening, environ: Mapping[str, str]) -> FastAPI:
    """The application; raises ``UserError`` for invalid settings."""
    settings = PartySettings.read(environ)
    private = environment.private_folder(
        environ, "CIPHERMARK_PRIVATE", "of the client alone, for its data sets"
    )
    environment.require_apart(private, settings.blobs)
    metrics = Metrics()
    data_sets = DataSets(private / "data-sets")
    parties = PartyHost("client", settings, metrics, "--data-sets", str(data_sets.folder))

    return assembled(
        Service(
            title="Ciphermark client",
            description=_DESCRIPTION,
            version=__version__,
            keyring=at.keyring,
            routers=[
                routes.router(parties),
                party_routes.router(parties),
                routes.data_sets_router(data_sets),
            ],
            checks=parties.checks(),
            notes=parties.notes(),
            metrics=metrics,
            lifespan=lambda _: parties.kept(),
            innermost=[Middleware(Attended)],
            bodies={"/v1/data-sets": BodyRule("text/csv", MAX_BYTES)},
        )
    )
