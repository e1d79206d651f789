"""The data sets that a suite names, and the interface that finds them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationInfo, model_validator

from ciphermark_benchmark.data_sets import Known
from ciphermark_core.descriptor import Value
from ciphermark_core.nearest import did_you_mean
from ciphermark_workloads import user_workloads
from ciphermark_workloads.catalogue import AnyWorkload
from ciphermark_workloads.data_sets import DATA_SETS, LabelRule

_FILE = ".csv"
FILES_BY_COMMAND = "files that options name are read by the command line alone"
_FORMS = "a data set is a name (boston), a CSV file (mine.csv), or {file: mine.csv, label: median}"


class Finder(ABC):
    """Finds the data sets, workloads and files that a suite names. A missing or invalid one raises ``ValueError`` with
    the reason.
    """

    def named(self, name: str) -> Known:
        """A data set by its name in results; shipped ones are always available."""
        if name in DATA_SETS:
            return Known(name, *DATA_SETS[name]().features.shape)
        return self.other(name)

    @abstractmethod
    def other(self, name: str) -> Known:
        """A data set by its name that is not shipped."""

    @abstractmethod
    def in_file(self, file: str, rule: LabelRule) -> Known:
        """A data set in a CSV file, as the suite writes it."""

    @abstractmethod
    def workload(self, text: str) -> str:
        """The name of a workload in a file, as the suite writes it. The workload is installed afterwards."""

    @abstractmethod
    def with_files(self, workload: AnyWorkload, values: Mapping[str, Value]) -> dict[str, Value]:
        """Values of options, with the values that follow from the files that they name."""


class Remembered(Finder):
    """The data sets of an earlier run, by their text in the suite: resuming reads no file again."""

    def __init__(
        self,
        data_sets: Mapping[str, Known],
        workloads: Mapping[str, str] | None = None,
        options: Mapping[str, dict[str, Value]] | None = None,
    ) -> None:
        self._data_sets = data_sets
        self._workloads = workloads or {}
        self._options = options or {}

    def other(self, name: str) -> Known:
        if name not in self._data_sets:
            raise ValueError(unknown(name, DATA_SETS.keys() | self._data_sets.keys()))
        return self._data_sets[name]

    def in_file(self, file: str, rule: LabelRule) -> Known:
        return self.other(key(file, rule))

    def workload(self, text: str) -> str:
        if text not in self._workloads:
            raise ValueError(f"{text!r}: workloads in files are read by the command line alone")
        return self._workloads[text]

    def with_files(self, workload: AnyWorkload, values: Mapping[str, Value]) -> dict[str, Value]:
        option_values = options_key(workload.name, values)
        if not user_workloads.files_named_in(workload, values):
            return dict(values)
        if option_values not in self._options:
            raise ValueError(
                f"{', '.join(user_workloads.files_named_in(workload, values))}: {FILES_BY_COMMAND}"
            )
        return self._options[option_values]


def _short_too(schema: dict[str, Any]) -> None:
    """Extend a schema by text as the short form."""
    spelled_out = dict(schema)
    schema.clear()
    schema["anyOf"] = [{"type": "string", "description": _FORMS}, spelled_out]


class DataSetText(BaseModel):
    """A data set in a suite: a name, or a CSV file and the rule for its label.

    Who checks a suite gives a :class:`Finder` as context; without one only shipped names are known.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, json_schema_extra=_short_too)

    name: str | None = Field(None, description="shipped, or as it is called in results: mine@3b5d12ab")
    file: str | None = Field(None, description="CSV; relative to the suite file")
    label: LabelRule = Field("binary", description="the last column: two values; or above the median or not")
    _known: Known = PrivateAttr()

    @model_validator(mode="before")
    @classmethod
    def _spelled_out(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"file": value} if value.lower().endswith(_FILE) else {"name": value}
        if not isinstance(value, dict):
            raise ValueError(f"{_FORMS}, not {value!r}")
        return value

    @model_validator(mode="after")
    def _find(self, info: ValidationInfo) -> Self:
        finder: Finder = info.context or Remembered({})
        if self.file is not None and self.name is None:
            self._known = finder.in_file(self.file, self.label)
        elif self.name is not None and self.model_fields_set == {"name"}:
            self._known = finder.named(self.name)
        else:
            raise ValueError(f"{_FORMS}: a file has no other name, and a name no rule for its label")
        return self

    @property
    def known(self) -> Known:
        """The data set that the finder returned."""
        return self._known

    @property
    def key(self) -> str:
        """The suite's text of the data set, on one line."""
        return key(self.file, self.label) if self.file is not None else str(self.name)

    def __repr__(self) -> str:
        return repr(self.key)


def options_key(workload: str, values: Mapping[str, Value]) -> str:
    """The suite's text of a workload's options, on one line."""
    return " ".join([workload, *(f"{name}={value!r}" for name, value in sorted(values.items()))])


def key(file: str, rule: LabelRule) -> str:
    """A file of a suite and its rule, on one line."""
    return file if rule == "binary" else f"{file} ({rule})"


def unknown(name: str, names: Any) -> str:
    """The message about an unknown name."""
    choices = sorted(names)
    return f"unknown data set {name!r}{did_you_mean(name, choices)}; known: {', '.join(choices)}"
