"""The REST models of the parties' messages: their fields, bounds, descriptions and examples only.

Input from outside is immutable, and unknown fields are refused.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from types import UnionType
from typing import Annotated, Any, ClassVar, Self, Union, get_args, get_origin

import msgspec
from fastapi import APIRouter, Path, Query
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    PlainSerializer,
    create_model,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from ciphermark_adapters.registry import Availability
from ciphermark_core.key_switching import Tuning
from ciphermark_core.model import (
    Accuracy,
    LayerFacts,
    LibraryInfo,
    Parameters,
    ParameterSpec,
    Sample,
    Scheme,
    offered,
)
from ciphermark_core.security import Table
from ciphermark_measure.parties import messages
from ciphermark_parties.host import PartyHost, PartySession
from ciphermark_web.observe import ID_PATTERN
from ciphermark_web.problems import documented
from ciphermark_workloads.workload import Stage

# Examples for types of the core, which does not depend on OpenAPI.
_EXAMPLES: dict[Any, Any] = {
    tuple[Stage, ...]: [{"name": "train", "returns": "nothing"}, {"name": "infer", "returns": "result"}],
    tuple[Sample, ...]: [
        {"metric": "time", "value": 0.0718, "stage": "infer", "party": "client"},
        {"metric": "peak_memory", "value": 41795584, "stage": "infer", "party": "client"},
    ],
    tuple[LayerFacts, ...]: [
        {
            "name": "first square",
            "level": 4,
            "end_level": 3,
            "scale_bits": 28.0016,
            "operand_bytes": 655360,
            "result_bytes": 524288,
            "counts": [{"operation": "square", "level": 4, "n": 1}],
        }
    ],
    Accuracy: {"max_abs_error": 0.0044, "incorrect_slots": 0, "tolerance": 0.1662, "precision_bits": None},
    LibraryInfo: {
        "library": "SEAL",
        "variant": "seal",
        "version": "4.1.2",
        "hexl": False,
        "build": {"build_type": "Release", "compiler": "c++ 12.2.0", "flags": "-w -O3 -DNDEBUG -fPIC"},
        "is_debug": False,
        "is_reference": False,
    },
    Parameters: {
        "spec": {
            "scheme": "bfv",
            "ring_dimension": 4096,
            "modulus_bits": [60, 49],
            "plain_modulus": 268369921,
            "security": 128,
        },
        "ring_dimension": 4096,
        "moduli": [1152921504606830593],
        "special_moduli": [562949953216513],
        "slots": 4096,
        "plain_modulus": 268369921,
        "key_switching": {"method": "hybrid", "decomposition_digits": 1},
        "scaling": "exact",
        "secret_distribution": "uniform ternary",
        "encryption": "public key",
        "slot_generator": 3,
    },
}
_BOUNDS = ("ge", "gt", "le", "lt", "pattern", "min_length", "max_length", "description", "examples")


class _Model(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, from_attributes=True, ser_json_bytes="base64", val_json_bytes="base64"
    )


@cache
def model_of(message: type[msgspec.Struct]) -> type[BaseModel]:
    """The model of a message."""
    fields: dict[str, Any] = {item.name: _field(item) for item in msgspec.structs.fields(message)}
    return create_model(message.__name__, __base__=_Model, __doc__=message.__doc__, **fields)


def opened(message: type[msgspec.Struct]) -> type[BaseModel]:
    """The model of the reply that opens a session: the session's name and location and the version of the messages, in
    addition to the party's reply.
    """
    return create_model(
        f"Session{message.__name__}",
        __base__=model_of(message),
        __doc__=message.__doc__,
        id=(str, Field(examples=["0f" * 16])),
        machine=(Machine, Field()),
        version=(int, Field(description="of the messages", examples=[messages.VERSION])),
    )


class _AsMessage:
    """Reads a body by the model of a message, and passes it to the route as the message."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        def message(model: BaseModel) -> Any:
            return msgspec.convert(model.model_dump(), source)

        return core_schema.no_info_after_validator_function(message, handler(model_of(source)))


AS_MESSAGE = _AsMessage()
"""Marks a body that is a message: ``asked: Annotated[messages.Score, AS_MESSAGE, Body()]``."""


def _field(item: msgspec.structs.FieldInfo) -> tuple[Any, Any]:
    if item.type == ParameterSpec | None:
        return (ParametersAsked | None, Field(default=None, examples=[ParametersAsked.EXAMPLE]))
    kind = _converted(item.type)
    if isinstance(item.default, msgspec.Struct):
        return kind, model_of(type(item.default)).model_validate(item.default)
    if item.default is not msgspec.NODEFAULT:
        return kind, item.default
    if item.default_factory is not msgspec.NODEFAULT:
        return kind, Field(default_factory=item.default_factory)
    return kind, ...


def _converted(kind: Any) -> Any:
    """The type with models for structs, and pydantic's annotations for bounds."""
    if kind is bytes:
        return Annotated[bytes, PlainSerializer(_base64, str, when_used="json")]
    if kind in _EXAMPLES:
        return Annotated[kind, Field(examples=[_EXAMPLES[kind]])]
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return model_of(kind)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        inner, *notes = arguments
        return Annotated[(_converted(inner), *map(_bounded, notes))]
    if origin is tuple:
        return tuple.__class_getitem__((_converted(arguments[0]), ...))
    if origin in (Union, UnionType):
        return Union[tuple(map(_converted, arguments))]  # noqa: UP007
    return kind


def _base64(data: bytes) -> str:
    """Base64 as in the messages themselves; pydantic's own encoding uses the alphabet for file names."""
    return b64encode(data).decode()


def _bounded(note: msgspec.Meta) -> Any:
    bounds = {name: getattr(note, name) for name in _BOUNDS}
    return Field(**{name: value for name, value in bounds.items() if value is not None})


_PrimeBits = Annotated[int, Field(ge=2, le=60)]


class BootstrappingAsked(BaseModel):
    """How ckks ciphertexts are bootstrapped."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    level_budget: tuple[int, int] = Field(
        default=(3, 3), description="levels for encoding and decoding", examples=[[2, 2]]
    )
    slots: int | None = Field(default=None, ge=1, description="absent: all", examples=[8])
    iterations: int = Field(default=1, ge=1, le=8, examples=[1])
    precision_bits: int | None = Field(default=None, ge=1, le=60, examples=[10])
    slots_first: bool = Field(
        default=False, description="decode before the modulus is raised", examples=[True]
    )


class _ParametersAsked(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    EXAMPLE: ClassVar[dict[str, Any]] = {
        "scheme": "ckks",
        "ring_dimension": 8192,
        "modulus_bits": [60, 40, 60],
        "scale_bits": 40,
    }

    scheme: Scheme = Field(examples=["bfv"])
    ring_dimension: int = Field(ge=1024, le=1 << 17, examples=[8192])
    modulus_bits: Annotated[tuple[_PrimeBits, ...], Field(min_length=1, max_length=64)] | None = Field(
        default=None,
        description="sizes of the primes, the special one last; absent: the default modulus chain",
        examples=[[60, 49]],
    )
    plain_modulus: int | None = Field(
        default=None, ge=2, lt=1 << 61, description="t; BFV and BGV", examples=[268369921]
    )
    scale_bits: int | None = Field(default=None, ge=1, le=60, description="ckks", examples=[40])
    security: int = Field(default=128, ge=0, le=256, description="at least, by security_table; 0 for none")
    security_table: Table = Field(default="2018", description="table that security is of", examples=["2024"])
    tuning: Tuning = Field(
        default="matched", description="who chooses how keys are switched", examples=["recommended"]
    )
    bootstrapping: BootstrappingAsked | None = Field(
        default=None, description="how ckks is bootstrapped", examples=[{"level_budget": [2, 2], "slots": 8}]
    )

    @model_validator(mode="after")
    def _fit_the_scheme(self) -> Self:
        needed, other = (
            ("scale_bits", "plain_modulus") if self.scheme == "ckks" else ("plain_modulus", "scale_bits")
        )
        if getattr(self, needed) is None or getattr(self, other) is not None:
            raise ValueError(f"{self.scheme} needs {needed}, and has no {other}")
        if self.ring_dimension & (self.ring_dimension - 1):
            raise ValueError("ring_dimension is a power of two")
        return self


_OFFERED: dict[str, Any] = {
    name: (kind, Field(default, **notes)) for name, (kind, default, notes) in offered().items()
}
ParametersAsked = create_model(
    "ParametersAsked",
    __base__=_ParametersAsked,
    __doc__="A requested parameter set; the library resolves it.",
    **_OFFERED,
)


SessionId = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$", description="the session", examples=["0f" * 16])]
RunId = Annotated[
    str, Query(pattern=ID_PATTERN, description="as `X-Run-Id` named the run", examples=["a-run"])
]
TrialId = Annotated[
    str | None,
    Query(
        pattern=ID_PATTERN,
        description="as `X-Trial-Id` named the trial; absent: all of the run",
        examples=["a-trial"],
    ),
]
Machine = Annotated[
    str | None,
    Field(
        description="the same for all processes on a machine since it started, containers included; null where the "
        "kernel does not report it",
        examples=["0f" * 8],
    ),
]


class SessionFacts(BaseModel):
    """One session."""

    id: str = Field(examples=["0f" * 16])
    variant: str = Field(examples=["seal"])
    workload: str = Field(examples=["lmc-plain"])
    is_busy: bool = Field(description="it is answering a request", examples=[False])


class SessionsEnded(BaseModel):
    """What became of a wish to end sessions."""

    ended: int = Field(description="how many there were", examples=[2])


class AdapterFacts(BaseModel):
    """One variant, and whether it can be used here."""

    variant: str = Field(examples=["seal"])
    library: str = Field(examples=["SEAL"])
    schemes: tuple[str, ...] = Field(examples=[["bfv", "bgv", "ckks"]])
    license: str = Field(examples=["MIT"])
    is_installed: bool = Field(examples=[True])
    reason: str | None = Field(description="why it cannot be used here", examples=[None])
    remedy: str | None = Field(description="what to do about it", examples=[None])


def router(parties: PartyHost) -> APIRouter:
    """``GET`` and ``DELETE /sessions``, ``DELETE /sessions/{session_id}`` and ``GET /adapters``."""
    routes = APIRouter(prefix="/v1")

    @routes.get("/sessions", tags=["sessions"], summary="Open sessions", responses=documented())
    def list_sessions() -> list[SessionFacts]:
        return [_facts(session) for session in parties.sessions.all()]

    @routes.delete(
        "/sessions/{session_id}",
        tags=["sessions"],
        summary="End a session at any time",
        status_code=204,
        responses=documented("not-found"),
    )
    def end_session(session_id: SessionId) -> None:
        parties.sessions.end(session_id, "its caller ended it")

    @routes.delete(
        "/sessions",
        tags=["sessions"],
        summary="End the sessions of a run, or of one of its trials, at any time",
        responses=documented(),
    )
    def end_sessions(run_id: RunId, trial_id: TrialId = None) -> SessionsEnded:
        return SessionsEnded(ended=parties.sessions.end_of(run_id, trial_id))

    @routes.get("/adapters", tags=["adapters"], summary="What is installed here", responses=documented())
    def list_adapters() -> list[AdapterFacts]:
        return [_adapter(item) for item in parties.available()]

    return routes


def _facts(session: PartySession) -> SessionFacts:
    return SessionFacts(
        id=session.id,
        variant=session.purpose.variant,
        workload=session.purpose.workload,
        is_busy=session.is_busy,
    )


def _adapter(item: Availability) -> AdapterFacts:
    declared = item.declaration
    return AdapterFacts(
        variant=declared.variant,
        library=declared.library,
        schemes=declared.schemes,
        license=declared.license,
        is_installed=item.is_installed,
        reason=item.reason,
        remedy=item.remedy,
    )
