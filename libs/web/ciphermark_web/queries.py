"""Query parameters that a route does not have are refused: ignored, a slip of the pen would change the answer."""

from __future__ import annotations

from starlette.requests import Request

from ciphermark_core.nearest import did_you_mean
from ciphermark_web.problems import Problem

_SHOWN_CHARACTERS = 64  # of a name; it may be anything


async def known_only(request: Request) -> None:
    """Raise ``Problem`` for a query parameter that the description of the request's route does not name."""
    if not request.query_params:
        return
    known = _described(request)
    for name in request.query_params:
        if name not in known:
            shown = name[:_SHOWN_CHARACTERS]
            here = f"known here: {', '.join(known)}" if known else "none is taken here"
            raise Problem(
                "invalid", f"query: unknown parameter {shown!r}{did_you_mean(shown, known)}; {here}"
            )


def _described(request: Request) -> list[str]:
    """The query parameters of the request's route, as OpenAPI has them."""
    operation = request.app.openapi()["paths"][request.scope["route"].path][request.method.lower()]
    return [item["name"] for item in operation.get("parameters", ()) if item["in"] == "query"]
