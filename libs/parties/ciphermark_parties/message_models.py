"""The messages of the parties as models of REST: their fields, bounds, descriptions and examples, and nothing besides.

What comes from outside is immutable, and has no fields that nobody knows.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec
from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, PlainSerializer, create_model
from pydantic_core import CoreSchema, core_schema

from ciphermark_core.model import Accuracy, LayerFacts, LibraryInfo, Parameters, ParameterSpec, Sample
from ciphermark_measure.parties import messages
from ciphermark_parties.parameters import ParametersAsked
from ciphermark_parties.schemas import Machine
from ciphermark_workloads.workload import Stage

# Examples of what the core defines, which knows nothing of OpenAPI.
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
    Accuracy: {"max_abs_error": 0.0044, "wrong_slots": 0, "tolerance": 0.1662, "precision_bits": None},
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
        "key_switching": {"method": "hybrid", "digits": 1},
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
    """The model of the reply that opens a session: what the session is called, where it is, and the version of the
    messages, beside what the party says.
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
    """Has a body read by the model of a message, and given to the route as the message."""

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
    if item.default is not msgspec.NODEFAULT:
        return kind, item.default
    if item.default_factory is not msgspec.NODEFAULT:
        return kind, Field(default_factory=item.default_factory)
    return kind, ...


def _converted(kind: Any) -> Any:
    """The type with models for structs, and pydantic's words for bounds."""
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
    """As the messages themselves are written; pydantic's own takes the alphabet for file names."""
    return b64encode(data).decode()


def _bounded(note: msgspec.Meta) -> Any:
    told = {name: getattr(note, name) for name in _BOUNDS}
    return Field(**{name: value for name, value in told.items() if value is not None})
