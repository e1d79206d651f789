"""Parties that are services: the same messages as JSON over REST, and blobs on a volume that both services share.

If ``CIPHERMARK_CLIENT_URL`` and ``CIPHERMARK_SERVER_URL`` are set, workloads go to those services. Each needs its
bearer token: ``CIPHERMARK_CLIENT_TOKEN`` holds the client's, or ``CIPHERMARK_CLIENT_TOKEN_FILE`` names its file;
likewise for the server.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any, get_args

import msgspec

from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.parties.party import LocalParties, NoPlace, Parties
from ciphermark_benchmark.processes import WorkerNeeds
from ciphermark_core import host
from ciphermark_core.errors import UserError
from ciphermark_core.model import ParameterSpec, Status, Trial
from ciphermark_measure.parties import messages
from ciphermark_measure.parties.blobs import DiskFull
from ciphermark_measure.processes import WorkerDied
from ciphermark_measure.protocol import Refused
from ciphermark_web.rest import CONNECT_S, NoAnswer, RequestRefused, RestClient, Service

_RESTART_S = 30.0  # killed containers answer again after 10 to 15 s
_PAUSE_S = 0.5
_READY = "/readyz"
_SESSIONS = "/v1/sessions"
_STATUSES: tuple[Status, ...] = get_args(Status)
# Requests with their names in a session's path ("" creates the session), and the types of their replies.
_ROUTES: dict[type, tuple[str, Any]] = {
    messages.MakeKeys: ("", messages.KeysMade),
    messages.Encrypt: ("/encrypt", messages.Encrypted),
    messages.Score: ("/score", messages.Scored),
    messages.CompareLayers: ("/layers", messages.LayersCompared),
    messages.Load: ("", messages.Loaded),
    messages.Evaluate: ("/evaluate", messages.Evaluated),
    messages.Describe: ("/describe", messages.Described),
    messages.EvaluateLayers: ("/layers", messages.LayersEvaluated),
}
# Problems after which the session is unusable.
_LOST = ("session-lost", "session-busy", "not-found", "internal", "not-ready")

# Causes of refusals by the kind of problem, where parties on this host use another word.
_CAUSES = {"disk-full": DiskFull.__name__}

_object = msgspec.json.Decoder(dict[str, Any])


class HttpParty:
    """One party: a session of a service, created by the first request."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._ids: dict[str, str] = {}
        self._is_opening = False
        self._is_killed = Event()
        self.machine: str | None = None
        self._rest = RestClient(service)
        self._session: str | None = None

    def meet(self, trial: Trial) -> None:
        """Set the trial and the run that every further request names, as in the database, for the service's log.

        Waits for a service that is restarting. Raises ``WorkerDied`` if it does not become ready.
        """
        self._ids = {"run_id": trial.run_id, "trial_id": trial.id}
        self._rest.name_requests({"X-Run-Id": trial.run_id, "X-Trial-Id": trial.id})
        limit_s = monotonic() + _RESTART_S
        while (reason := self._reason_against()) is not None:
            if monotonic() > limit_s or self._is_killed.wait(_PAUSE_S):
                raise reason

    def ask(self, request: messages.Request, timeout_s: float) -> messages.Reply:
        """See :class:`~ciphermark_benchmark.parties.party.Party`."""
        step, kind = _ROUTES[type(request)]
        path = f"{_SESSIONS}/{self._session}{step}" if step else _SESSIONS
        self._is_opening = self._is_opening or not step
        try:
            return self._reply(self._sent("POST", path, _body(request), timeout_s), kind)
        except RequestRefused as refusal:
            return self._refusal(refusal)

    def kill(self) -> None:
        """Called from another thread: end the session, even a busy one; a session without a known id is ended by its
        trial.
        """
        self._is_killed.set()
        with suppress(NoAnswer, RequestRefused), self._rest.another() as rest:
            if self._session is not None:
                rest.send("DELETE", f"{_SESSIONS}/{self._session}")
            elif self._is_opening and self._ids:
                rest.send("DELETE", _SESSIONS, params=self._ids)

    def end(self) -> None:
        """End the session and the connection."""
        self.kill()
        self._rest.close()

    def _reason_against(self) -> WorkerDied | None:
        """The reason why the service cannot take requests now, if any."""
        try:
            self._sent("GET", _READY, None, CONNECT_S)
        except WorkerDied as death:
            return death
        except RequestRefused as refusal:
            return self._death(f"it is not ready: {refusal.body[:200]}")
        return None

    def _sent(self, method: str, path: str, body: bytes | None, timeout_s: float) -> bytes:
        """The body of the response. Raises ``WorkerDied`` if there is none, and ``RequestRefused``."""
        try:
            return self._rest.send(method, path, body, timeout_s=timeout_s)
        except NoAnswer as error:
            if not error.is_late:
                raise self._death(str(error)) from None
            raise WorkerDied(
                "timeout", f"the {self._service.name} service gave no answer within {timeout_s:.0f} s"
            ) from None

    def _reply(self, answer: bytes, kind: Any) -> messages.Reply:
        try:
            fields = _object.decode(answer)
            if kind in (messages.KeysMade, messages.Loaded):
                self._session, self.machine = str(fields.pop("id")), fields.get("machine")
                self._require_version(fields.pop("version"))
            tag = kind.__struct_config__.tag
            reply: messages.Reply = msgspec.convert(fields | {"type": tag}, kind)
            return reply
        except (msgspec.MsgspecError, KeyError):
            raise self._death(f"it answers nonsense: {answer[:100].decode(errors='replace')!r}") from None

    def _require_version(self, version: object) -> None:
        if version != messages.VERSION:
            raise self._death(
                f"it speaks version {version} of the messages, and {messages.VERSION} is needed"
            )

    def _refusal(self, refusal: RequestRefused) -> Refused:
        """A problem document as a refusal. Raises ``WorkerDied`` if the session is lost or cannot be created."""
        if refusal.kind is None or "detail" not in refusal.fields:
            raise self._death(f"HTTP status {refusal.status_code}: {refusal.body[:100]!r}")
        text, status = str(refusal), refusal.fields.get("trial_status", "crashed")
        if status not in _STATUSES:
            raise self._death(f"it reported the unknown status {status!r}")
        if refusal.kind == "too-many":
            raise NoPlace(f"the {self._service.name} service has no place: {text}", refusal.after_s)
        if refusal.kind in _LOST:
            raise WorkerDied(status, f"the {self._service.name} service: {text}")
        return Refused(status, text, _CAUSES.get(refusal.kind, refusal.kind))

    def _death(self, text: str) -> WorkerDied:
        return WorkerDied("crashed", f"the {self._service.name} service at {self._service.url}: {text}")


class HttpParties(Parties):
    """A session of each service. The services manage their blobs themselves."""

    def __init__(self, client: Service, server: Service) -> None:
        self.client, self.server = self._both = HttpParty(client), HttpParty(server)

    def meet(self, trial: Trial) -> None:
        for party in self._both:
            party.meet(trial)

    @property
    def is_elsewhere(self) -> bool | None:
        here, machines = host.machine(), [party.machine for party in self._both]
        return None if here is None or None in machines else machines != [here, here]


def chosen(
    environ: Mapping[str, str], data_directory: DataDirectory | None = None
) -> Callable[[WorkerNeeds], Parties]:
    """The factory of parties: services if the environment names both, else processes on this host, which take the
    user's data sets and workloads from a data directory.

    Raises ``UserError`` as :func:`services` does.
    """
    named = services(environ)
    if named is None:
        return lambda needs: LocalParties(needs, data_directory)
    return lambda _: HttpParties(*named)


def services(environ: Mapping[str, str]) -> tuple[Service, Service] | None:
    """The client and the server service that the environment names; ``None`` if it names neither.

    Raises ``UserError`` if it names only one of them, or no token.
    """
    urls = {name: environ.get(f"CIPHERMARK_{name.upper()}_URL") for name in ("client", "server")}
    if not any(urls.values()):
        return None
    for name, url in urls.items():
        if not url:
            raise UserError(
                f"CIPHERMARK_{name.upper()}_URL is not set, and the other party's is: set both, or none for parties "
                "on this host"
            )
        if not url.startswith(("http://", "https://")) or not url.isascii():
            raise UserError(
                f"CIPHERMARK_{name.upper()}_URL: {url!r} is no address of a service: write http://HOST:PORT"
            )
    client, server = (Service(name, str(url), _token(name, environ)) for name, url in urls.items())
    return client, server


def _token(name: str, environ: Mapping[str, str]) -> str:
    variable = f"CIPHERMARK_{name.upper()}_TOKEN"
    value, path = environ.get(variable), environ.get(f"{variable}_FILE")
    if not value and not path:
        raise UserError(f"the {name} service needs its token: set {variable} or {variable}_FILE")
    try:
        token = (value or _first_line(Path(str(path)))).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{variable}_FILE: {path} cannot be read: {error}") from None
    if not (token.isascii() and token.isprintable() and token):
        raise UserError(f"{variable if value else path} contains no token: copy the {name} service's")
    return token


def _first_line(path: Path) -> str:
    """The first line of a token file; a second line may hold a token that is being replaced."""
    return path.read_text(encoding="utf-8").strip().partition("\n")[0]


def _body(request: messages.Request) -> bytes:
    fields = msgspec.to_builtins(request)
    fields.pop("type")
    if isinstance(request, messages.MakeKeys) and request.parameters is not None:
        fields["parameters"] = _not_default(request.parameters)
    return msgspec.json.encode(fields)


def _not_default(parameters: ParameterSpec) -> dict[str, Any]:
    """The request's fields that differ from the defaults. REST has no words for modulus chains for a depth, which no
    workload requests.
    """
    values = {field: getattr(parameters, field.name) for field in dataclasses.fields(parameters)}
    return {field.name: value for field, value in values.items() if value != field.default}


def end_sessions(environ: Mapping[str, str], run_ids: Iterable[str]) -> None:
    """End the sessions of abandoned runs at the services that the environment names, if any.

    A service that does not answer is skipped: it ends idle sessions itself.
    """
    ids = tuple(run_ids)
    for service in services(environ) or ():
        with suppress(NoAnswer), RestClient(service) as rest:
            for run_id in ids:
                _end(rest, run_id)


def _end(rest: RestClient, run_id: str) -> None:
    with suppress(RequestRefused):
        rest.send("DELETE", "/v1/sessions", params={"run_id": run_id}, headers={"X-Run-Id": run_id})


def runs_begun(pending: Path) -> list[str]:
    """The runs with a journal in a folder. A process with exclusive use of the data directory knows that none of them
    is being executed.
    """
    return [path.stem for path in pending.glob("*.jsonl")]
