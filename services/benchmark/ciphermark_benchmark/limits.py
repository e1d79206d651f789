"""The limits of advice as people write them: numbers with units, in options, YAML files and requests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema

from ciphermark_benchmark.suite import files
from ciphermark_core.errors import UserError
from ciphermark_core.nearest import did_you_mean
from ciphermark_core.security import OLDEST, Table
from ciphermark_model.advice import Limits, Objective

_NUMBER = re.compile(r"\s*([0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?)\s*([A-Za-zµ/]*)\s*")
_SECONDS = {"ns": 1e-9, "µs": 1e-6, "us": 1e-6, "ms": 1e-3, "": 1.0, "s": 1.0, "min": 60.0, "h": 3600.0}
BYTES = {
    "": 1.0,
    "B": 1.0,
    "kB": 1e3,
    "KB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
    "KiB": 1024.0,
    "MiB": 1024.0**2,
    "GiB": 1024.0**3,
}
_BITS_PER_S = {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9}


def quantity(text: Any, units: Mapping[str, float]) -> float:
    """A positive number with one of the units, as a number in the base unit. Raises ``ValueError`` for other values."""
    match = _NUMBER.fullmatch(str(text)) if not isinstance(text, bool) else None
    if match is None or match[2] not in units or not float(match[1]) * units[match[2]] < float("inf"):
        names = ", ".join(filter(None, units))
        raise ValueError(f"write a number with a unit ({names}), not {text!r}")
    value = float(match[1]) * units[match[2]]
    if value <= 0:
        raise ValueError(f"must be more than 0, not {text!r}")
    return value


def _absent_or(units: Mapping[str, float], text: Any) -> float | None:
    return None if text is None else quantity(text, units)


_SCHEMA = WithJsonSchema(
    {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string"}, {"type": "null"}]}
)
_TEXT_SCHEMA = WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "null"}]})
Seconds = Annotated[float | None, BeforeValidator(partial(_absent_or, _SECONDS)), _SCHEMA]
Bytes = Annotated[float | None, BeforeValidator(partial(_absent_or, BYTES)), _SCHEMA]
BitsPerSecond = Annotated[float | None, BeforeValidator(partial(_absent_or, _BITS_PER_S)), _TEXT_SCHEMA]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class WishText(BaseModel):
    """Limits of advice, and the conditions of its costs."""

    model_config = ConfigDict(extra="forbid")

    latency: Seconds = Field(None, description="time of all steps of both parties", examples=["2s"])
    throughput: Positive | None = Field(None, description="passes of the server per second", examples=[10.0])
    memory: Bytes = Field(None, description="memory of each party", examples=["4GB"])
    client_memory: Bytes = Field(None, description="memory of the client", examples=["500MB"])
    server_memory: Bytes = Field(None, description="memory of the server", examples=["4GB"])
    upload: Bytes = Field(None, description="bytes to the server per pass", examples=["1MB"])
    download: Bytes = Field(None, description="bytes to the client per pass", examples=["200kB"])
    keys: Bytes = Field(None, description="bytes of the evaluation keys", examples=["50MB"])
    error: Positive | None = Field(
        None, description="largest absolute error; exact results meet it", examples=[1e-4]
    )
    exact: bool = Field(False, description="exact results only", examples=[False])
    price: Positive | None = Field(None, description="price of a pass; needs core_hour", examples=[1e-6])
    core_hour: Positive | None = Field(
        None, description="price of one core of the server for an hour", examples=[0.0195]
    )
    security: Literal[0, 128, 192, 256] = Field(128, description="security level in bits", examples=[128])
    security_table: Table = Field(OLDEST, description="table of the security level", examples=["2024"])
    libraries: list[Annotated[str, Field(max_length=100)]] = Field(
        [], max_length=100, description="variants to compare; empty: all", examples=[["seal", "openfhe"]]
    )
    threads: int | None = Field(
        None, ge=1, le=1024, description="maximum number of threads; default: the cores", examples=[2]
    )
    bandwidth: BitsPerSecond = Field(
        1e8,
        description="bandwidth each way; with null, transfer takes no time",
        examples=["100Mbit/s"],
    )
    round_trip: Seconds = Field(None, description="time of a round trip of the link", examples=["20ms"])
    other_host: bool = Field(
        False, description="accept costs of another host; intervals widen", examples=[False]
    )
    objective: Objective = Field("time", description="what ranks the points", examples=["time"])

    @property
    def limits(self) -> Limits:
        """The limits themselves. Raises ``UserError`` for a limit that lacks its condition."""
        if self.price is not None and self.core_hour is None:
            raise UserError("a limit of the price needs the price of a core for an hour: core_hour")
        return Limits(
            security=self.security,
            security_table=self.security_table,
            error=self.error,
            exact=self.exact,
            latency=self.latency,
            throughput=self.throughput,
            client_memory=_smaller(self.memory, self.client_memory),
            server_memory=_smaller(self.memory, self.server_memory),
            upload=self.upload,
            download=self.download,
            keys=self.keys,
            price=self.price,
            libraries=tuple(self.libraries),
            threads=self.threads,
        )


def _smaller(*values: float | None) -> float | None:
    return min((value for value in values if value is not None), default=None)


def read(values: Mapping[str, Any], origin: str = "") -> WishText:
    """The wish of values by name. Raises ``UserError`` for unknown names and invalid values; texts begin with
    ``origin``.
    """
    try:
        return WishText.model_validate(dict(values))
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        name = str(problem["loc"][0]) if problem["loc"] else ""
        text = problem["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
        if problem["type"] == "extra_forbidden":
            text = f"there is no such limit{did_you_mean(name, WishText.model_fields)}"
        raise UserError(": ".join(filter(None, (origin, name, text)))) from None


def in_file(path: Path) -> dict[str, Any]:
    """The values of a YAML file, valid in themselves. Raises ``UserError`` for an unreadable file or invalid values."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"{path}: cannot read the limits: {getattr(error, 'strerror', None) or error}"
        ) from None
    values = files.plain(text, str(path))
    if not isinstance(values, dict):
        raise UserError(f"{path}: limits are a mapping, such as latency: 2s")
    read(values, str(path))
    return values
