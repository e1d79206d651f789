"""What the experiments' rows add to the form of suites: the dimensions that some of them vary, as fields."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, Field, ValidationInfo, field_validator

from ciphermark_measure.experiments import KINDS
from ciphermark_measure.experiments.base import Varied

T = TypeVar("T")


def distinct(values: list[T]) -> list[T]:
    """Refuse a list that names something twice."""
    for index, value in enumerate(values):
        if value in values[:index]:
            raise ValueError(f"{value!r} is listed twice")
    return values


Several = Annotated[list[T], Field(min_length=1), AfterValidator(distinct)]


def as_list(value: Any) -> list[Any]:
    """A list; one value as a list of one."""
    return value if isinstance(value, list) else [value]


def field_of(varied: Varied) -> tuple[Any, Any]:
    """A dimension as a field of the form: its type, and what pydantic is told of it."""
    number = Annotated[int, Field(ge=1, le=varied.most)]
    kind: Any = Several[number] if varied.is_list else number
    description = varied.dimension.sentence
    examples = [varied.example]
    if varied.default is not None:
        return kind, Field(varied.default, description=description, examples=examples)
    return kind | None, Field(None, validate_default=True, description=description, examples=examples)


def owned(varied: Varied) -> Any:
    """A validator: what has no default is written where it is varied, and nowhere else."""
    name = varied.dimension.name
    owners = [row.name for row in KINDS.values() if varied in row.varied]

    def check(cls: type[BaseModel], value: Any, info: ValidationInfo) -> Any:
        kind = info.data.get("kind")
        if kind in owners and value is None:
            sentence = varied.dimension.sentence.partition(" (")[0]
            told = f"{sentence[:1].lower()}{sentence[1:].rstrip('.')}"
            raise ValueError(f"{kind} needs `{name}`: {told}, such as {varied.example}")
        if kind is not None and kind not in owners and value is not None and varied.default is None:
            raise ValueError(f"{name} are for the kind {' or '.join(owners)}, not for {kind}")
        return value

    return field_validator(name)(classmethod(check))


VARIED = {varied.dimension.name: varied for row in KINDS.values() for varied in row.varied}
