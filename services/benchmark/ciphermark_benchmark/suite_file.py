"""Reading suite files: every mistake is told with file, line and remedy."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from ciphermark_benchmark.nearest import did_you_mean
from ciphermark_benchmark.suite import Suite
from ciphermark_core.errors import UserError

_LARGEST_BYTES = 1 << 20

Location = tuple[int | str, ...]


def load(path: Path) -> tuple[Suite, str]:
    """Read and check a suite file; returns the suite and the text as written.

    Raises ``UserError`` that names file, line and remedy.
    """
    try:
        if path.stat().st_size > _LARGEST_BYTES:
            raise UserError(f"{path}: a suite of more than 1 MiB is not one")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        known = sorted(str(item) for item in path.parent.glob("*.yaml"))
        hint = did_you_mean(str(path), known)
        raise UserError(f"{path}: cannot read the suite: {error.strerror}{hint}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: the suite is not UTF-8 text") from None
    return parse(text, str(path)), text


def parse(text: str, origin: str) -> Suite:
    """Check a suite's text; ``origin`` is the name that errors begin with."""
    document = _document(text, origin)
    if not isinstance(document, CommentedMap):
        raise UserError(f"{origin}:1: a suite is a mapping with name, seed, budget and experiments")
    try:
        return Suite.model_validate(_plain(document))
    except ValidationError as error:
        problems = error.errors(include_url=False)
        raise UserError("\n".join(_sentences(problems, document, origin))) from None


def _document(text: str, origin: str) -> Any:
    try:
        return YAML(typ="rt").load(io.StringIO(text))
    except MarkedYAMLError as error:
        line = (error.problem_mark or error.context_mark).line + 1
        raise UserError(f"{origin}:{line}: not YAML: {error.problem}") from None
    except YAMLError as error:
        raise UserError(f"{origin}: not YAML: {error}") from None


def _plain(value: Any) -> Any:
    """Plain dicts, lists and scalars of a parsed document; the round-trip types carry the line numbers."""
    if isinstance(value, CommentedMap):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, CommentedSeq):
        return [_plain(item) for item in value]
    if isinstance(value, bool) or value is None:
        return value
    for kind in (int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return value


def _sentences(problems: Iterable[ErrorDetails], document: CommentedMap, origin: str) -> list[str]:
    """One sentence per place: of several complaints about one place the first is told."""
    told: dict[Location, str] = {}
    for problem in problems:
        place = _real_location(problem["loc"], document)
        told.setdefault(place, f"{origin}:{_line(place, document)}: {_sentence(problem, place)}")
    return list(told.values())


def _real_location(location: Location, document: CommentedMap) -> Location:
    """The part of pydantic's location that exists in the document: it adds names of union members."""
    real: list[int | str] = []
    node: Any = document
    for step in location:
        if (isinstance(node, CommentedMap) and step in node) or (
            isinstance(node, CommentedSeq) and isinstance(step, int) and step < len(node)
        ):
            node = node[step]
        else:
            continue
        real.append(step)
    return tuple(real)


def _line(location: Location, document: CommentedMap) -> int:
    """Line, from 1, of the innermost key or item of a location."""
    node: Any = document
    line = 1
    for step in location:
        if isinstance(node, CommentedMap):
            line = node.lc.key(step)[0] + 1
        elif isinstance(node, CommentedSeq):
            line = node.lc.item(step)[0] + 1
        node = node[step]
    return line


def _sentence(problem: ErrorDetails, place: Location) -> str:
    name = ".".join(str(step) for step in place)
    if problem["type"] == "extra_forbidden":
        known = _known_keys(place[:-1])
        return (
            f"unknown key {place[-1]!r}{did_you_mean(str(place[-1]), known)}; keys here: {', '.join(known)}"
        )
    if problem["type"] == "missing":
        return f"{name or 'the suite'} lacks the key {str(problem['loc'][-1])!r}"
    if problem["type"] == "literal_error":
        expected = str(problem["ctx"]["expected"])
        choices = [word.strip("'") for word in expected.replace(" or ", ", ").split(", ")]
        hint = did_you_mean(str(problem["input"]), choices)
        return f"{name}: {problem['input']!r} is not one of {expected}{hint}"
    text = problem["msg"].removeprefix("Value error, ")
    return f"{name}: {text}" if name else text


def _known_keys(parents: Location) -> list[str]:
    """The keys that the form has below a location."""
    model: type[BaseModel] = Suite
    for step in parents:
        if isinstance(step, str):
            model = _model_in(model.model_fields[step].annotation) or model
    return list(model.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for item in get_args(annotation) if (model := _model_in(item))), None)
