"""Machine files: accelerators as data. Errors name file, line and remedy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from ruamel.yaml import YAML

from ciphermark_benchmark.limits import BYTES, quantity
from ciphermark_benchmark.suite import files
from ciphermark_core.errors import UserError
from ciphermark_core.nearest import did_you_mean
from ciphermark_model.machines.machine import Conversion, Digits, Instructions, Machine, Units
from ciphermark_workloads.deep import graphs

FOLDER = Path(__file__).with_name("machines")
_BYTES_PER_S = {"MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12, "GiB/s": 1024.0**3, "TiB/s": 1024.0**4}
# Published results of a machine are no results of one that is based on it.
_OWN = ("published", "published_ms", "published_cpu_s", "published_slowdowns", "based_on")
_MAX_DEPTH = 8  # machines that are based on each other
_DEFINITION = "with title, source, lanes, units and so on; see `ciphermark machines --schema`"


def _number(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError(f"write a number, not {str(value).lower()}")
    return value


Positive = Annotated[float, BeforeValidator(_number), Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, BeforeValidator(_number), Field(ge=0, allow_inf_nan=False)]
Level = Annotated[int, Field(ge=0)]
Bytes = Annotated[float, BeforeValidator(partial(quantity, units=BYTES))]
BytesPerSecond = Annotated[float, BeforeValidator(partial(quantity, units=_BYTES_PER_S))]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid")


class UnitsText(_Form):
    """Pipelined units: residue polynomials that each kind takes at once."""

    ntt: Positive = Field(description="number-theoretic transforms")
    multiply: Positive = Field(description="products")
    add: Positive = Field(description="sums")
    automorphism: Positive = Field(description="automorphisms")
    conversion: Conversion = Field(
        description="base conversion: `residues` puts out whole residues, `accumulators` are multiply-accumulate units,"
        " `multipliers` leaves it to products and sums"
    )
    conversions: Positive | None = Field(
        None, description="units that put out residues, or accumulators per lane"
    )

    @model_validator(mode="after")
    def _agrees(self) -> UnitsText:
        if (self.conversions is None) != (self.conversion == "multipliers"):
            raise ValueError("conversions is for `residues` and `accumulators`, and only for them")
        return self

    @property
    def units(self) -> Units:
        """The units themselves."""
        return Units(**{**self.model_dump(), "conversions": self.conversions or 1.0})


class InstructionsText(_Form):
    """Cycles of one lane, on a machine whose lanes do everything."""

    butterfly: Positive = Field(description="butterfly of a transform")
    accumulate: NotNegative = Field(0.0, description="multiply-accumulate of a base conversion")
    multiply: NotNegative = Field(0.0, description="product of two words")
    add: NotNegative = Field(0.0, description="sum of two words")
    move: NotNegative = Field(0.0, description="word of an automorphism")


class DigitsText(_Form):
    """Digits of key switching up to a number of residues."""

    up_to: int = Field(gt=0, description="largest number of residues")
    digits: int = Field(ge=0, description="digits; 0 for the standard key switching")


class MachineText(_Form):
    """A machine."""

    title: str = Field(max_length=100, description="name in tables")
    based_on: str | None = Field(
        None, description="machine whose values apply to absent keys: a name, or a file relative to this one"
    )
    source: str = Field(max_length=500, description="publication, or the origin of the figures")
    is_verified: bool = Field(description="whether published times were compared with the model")
    word_bits: int = Field(ge=8, le=128, description="bits of a word, and of a residue")
    max_ring: int = Field(ge=1024, le=1 << 20, description="largest ring dimension N")
    lanes: Positive = Field(description="words that a unit takes per cycle")
    ghz: Positive = Field(description="frequency")
    units: UnitsText | None = Field(None, description="pipelined units")
    instructions: InstructionsText | None = Field(None, description="cycles of lanes that do everything")
    register_file: Bytes = Field(description="memory on the chip, such as 256MiB")
    bandwidth: BytesPerSecond = Field(description="bandwidth of the main memory, such as 1TB/s")
    hint_factor: float = Field(gt=0, le=1, description="share of a hint that is loaded: 0.5 with seeds")
    plaintext_residues: int | None = Field(
        None, gt=0, description="residues that are loaded of a plaintext; default: all"
    )
    latency_cycles: NotNegative = Field(0.0, description="added to each key switching")
    digits: Literal["program"] | dict[Level, list[DigitsText]] = Field(
        description="digits of key switching by security level in bits; `program`: as the program's library has them"
    )
    special_residues: int | None = Field(
        None, gt=0, description="special residues; default: as many as in a digit"
    )
    marks: dict[str, str] = Field({}, description="the origin of each value that is not published")
    published: dict[str, NotNegative] = Field({}, description="published facts that the model does not use")
    published_ms: dict[str, dict[int, Positive]] = Field(
        {}, description="published times by program and security level"
    )
    published_cpu_s: dict[str, Positive] = Field(
        {}, description="published times of the processor that the machine was compared with"
    )
    published_slowdowns: dict[str, Positive] = Field(
        {}, description="published times by program, in those of the machine that this one is based on"
    )

    @model_validator(mode="after")
    def _agrees(self) -> MachineText:
        for fault in self._faults():
            raise ValueError(fault)
        return self

    def _faults(self) -> Iterator[str]:
        if (self.units is None) == (self.instructions is None):
            yield "a machine has units or instructions, and not both"
        if self.max_ring & (self.max_ring - 1):
            yield f"max_ring is a power of two, and {self.max_ring} is not"
        if isinstance(self.digits, dict):
            yield from self._faults_of_digits(self.digits)
        elif self.special_residues is not None:
            yield "special_residues contradicts digits of the program"
        keys = {
            *type(self).model_fields,
            *_inner("units", UnitsText),
            *_inner("instructions", InstructionsText),
        }
        for mark in self.marks:
            if mark not in keys and not mark.startswith(
                "digits."
            ):  # of a level that a change may have taken off
                yield f"marks: {mark} is no key of a machine{did_you_mean(mark, keys)}"
        for place in ("published_ms", "published_cpu_s", "published_slowdowns"):
            for program in getattr(self, place):
                if program not in graphs.GRAPHS:
                    yield f"{place}: there is no program {program!r}{did_you_mean(program, graphs.GRAPHS)}"

    def _faults_of_digits(self, digits: Mapping[int, list[DigitsText]]) -> Iterator[str]:
        if not digits:
            yield "digits must not be empty"
        for level, rows in digits.items():
            limits = [row.up_to for row in rows]
            if not rows or sorted({*limits}) != limits:
                yield f"digits.{level}: rows have ascending values of up_to"
            if any(row.digits > row.up_to for row in rows):
                yield f"digits.{level}: there are no more digits than residues"
            for row in rows:
                count = -(-row.up_to // self.special_residues) if self.special_residues else row.digits
                if count != row.digits:
                    yield (
                        f"digits.{level}: {row.up_to} residues in digits of {self.special_residues} special_residues "
                        f"are {count} digits, not {row.digits}"
                    )

    def machine(self, name: str) -> Machine:
        """The machine itself."""
        digits = {0: Digits()}
        if isinstance(self.digits, dict):
            digits = {
                level: Digits(tuple((row.up_to, row.digits) for row in rows), self.special_residues)
                for level, rows in self.digits.items()
            }
        units, instructions = self.units, self.instructions
        compute = (
            units.units if units else Instructions(**(instructions.model_dump() if instructions else {}))
        )
        return Machine(
            name=name,
            title=self.title,
            source=self.source,
            is_verified=self.is_verified,
            word_bits=self.word_bits,
            max_ring=self.max_ring,
            lanes=self.lanes,
            ghz=self.ghz,
            compute=compute,
            register_file_bytes=self.register_file,
            bandwidth=self.bandwidth,
            digits=digits,
            hint_factor=self.hint_factor,
            plaintext_residues=self.plaintext_residues,
            latency_cycles=self.latency_cycles,
            marks=self.marks,
            published=self.published,
            published_ms=self.published_ms,
            published_cpu_s=self.published_cpu_s,
            based_on=self.based_on,
            published_slowdowns=self.published_slowdowns,
        )


def _inner(place: str, form: type[BaseModel]) -> Iterator[str]:
    """The keys of an inner form, with dots."""
    return (f"{place}.{key}" for key in form.model_fields)


def names() -> list[str]:
    """The shipped machines, sorted."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def machine(name: str, changes: Mapping[str, Any] | None = None) -> Machine:
    """A shipped machine by its name, or that of a file, with changes to its values by key. Keys of inner values are
    written with dots: ``units.ntt``. Raises ``UserError`` that names file, line and remedy.
    """
    path = _path(name, Path())
    is_changed = f" with {', '.join(changes)}" if changes else ""
    form = files.checked(
        _text(path),
        f"{path}{is_changed}",
        MachineText,
        "machine",
        _DEFINITION,
        completed=lambda values: _changed(_completed(values, path), changes or {}),
    )
    return form.machine(path.stem)


def _path(name: str, folder: Path) -> Path:
    """The file of a machine that is named by a text in a folder."""
    if Path(name).suffix in (".yaml", ".yml"):
        return folder / name
    if name not in names():
        raise UserError(
            f"there is no machine {name!r}{did_you_mean(name, names())}; see `ciphermark machines`"
        )
    return FOLDER / f"{name}.yaml"


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"{path}: cannot read the machine: {getattr(error, 'strerror', None) or error}"
        ) from None


def _completed(values: dict[str, Any], path: Path, depth: int = 0) -> dict[str, Any]:
    """The values with those of the machine that they are based on."""
    base = values.get("based_on")
    if not isinstance(base, str):
        return values
    if depth == _MAX_DEPTH:
        raise UserError(f"{path}: based_on: machines are based on each other")
    other = _path(base, path.parent)
    whole = _completed(files.plain(_text(other), str(other)), other, depth + 1)
    inherited = {key: value for key, value in whole.items() if key not in _OWN}
    return {**inherited, **values, "marks": {**whole.get("marks", {}), **values.get("marks", {})}}


def _changed(values: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    for key, value in changes.items():
        *outer, last = key.split(".")
        place = values
        for step in outer:
            inner = place.get(step)
            place[step] = place = dict(inner) if isinstance(inner, dict) else {}
        place[last] = value
    return values


def value_of(text: str) -> Any:
    """A value as YAML writes it."""
    return YAML(typ="safe").load(text)
