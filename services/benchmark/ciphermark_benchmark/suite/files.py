"""Reads suite files; every error names file, line and remedy."""

from __future__ import annotations

import io
import math
import reprlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.reader import ReaderError

from ciphermark_benchmark.data_sets.finder import Finder
from ciphermark_benchmark.suite import renamed, shipped
from ciphermark_benchmark.suite.fields import defaults
from ciphermark_benchmark.suite.form import FORMS, ExperimentText, Suite
from ciphermark_core.errors import UserError
from ciphermark_core.nearest import did_you_mean
from ciphermark_measure.experiments import KINDS
from ciphermark_workloads.catalogue import WORKLOADS, families

_LARGEST_BYTES = 1 << 20
# Values and characters with every alias expanded: no suite without aliases exceeds this.
_LARGEST_EXPANDED = 4 * _LARGEST_BYTES
MAX_TRIALS = 20_000
# Limit of reported errors: the search for better ones takes quadratic time.
_MAX_PROBLEMS = 500
# Lists of an experiment that do not multiply its cases.
_NOT_VARIED = ("modulus_bits", "allow")
# Messages in place of pydantic's, by its type of error.
_TEXTS = {
    "int_type": "must be a whole number, not {input}",
    "float_type": "must be a number, not {input}",
    "string_type": "must be text, not {input}",
    "list_type": "must be a list in brackets, not {input}",
    "model_type": "must be a mapping of keys to values, not {input}",
    "too_short": "must not be empty",
}
# Levels of nested lists in messages: two.
_REPR = reprlib.Repr()
_REPR.maxlevel = 2

Location = tuple[int | str, ...]
Form = TypeVar("Form", bound=BaseModel)


def load(path: Path, data_sets: Finder | None = None) -> tuple[Suite, str]:
    """Read and check a suite file; returns the suite and the text as written.

    ``path`` is as for :func:`spelled_out`. Raises ``UserError`` that names file, line and remedy.
    """
    text, origin = text_of(path), str(spelled_out(path))
    suite = parse(text, origin, data_sets)
    require_size(suite, origin)
    return suite, text


def require_size(suite: Suite, origin: str) -> None:
    """Raise ``UserError`` for a suite with too many trials."""
    trials = sum(map(_cases, suite.experiments)) * suite.budget.processes
    if trials > MAX_TRIALS:
        raise UserError(f"{origin}: the suite has {trials} trials; the maximum is {MAX_TRIALS}: split it")


def _cases(experiment: BaseModel) -> int:
    """The number of cases of an experiment of any form: the product of the lengths of its lists."""
    lists = {name: getattr(experiment, name) for name in type(experiment).model_fields}
    lists |= lists.pop("options", {})
    if isinstance(experiment, ExperimentText) and experiment.operations is None:
        lists["operations"] = list(defaults(experiment.kind))
    return math.prod(
        len(value) for name, value in lists.items() if isinstance(value, list) and name not in _NOT_VARIED
    )


def text_of(path: Path) -> str:
    """The text of a suite file; raises ``UserError`` if it is unreadable or too large."""
    path = spelled_out(path)
    try:
        with path.open(encoding="utf-8") as file:  # possibly a device, whose size is unknown
            text = file.read(_LARGEST_BYTES + 1)
        if len(text) > _LARGEST_BYTES:
            raise UserError(f"{path}: a suite of more than 1 MiB is not one")
        return text
    except OSError as error:
        nearby = sorted(str(item) for item in path.parent.glob("*.yaml"))
        candidates = nearby if len(path.parts) > 1 or path.suffix else [*shipped.names(), *nearby]
        hint = did_you_mean(str(path), candidates)
        if not hint and candidates != nearby:
            hint = "; see `ciphermark suite list`"
        raise UserError(f"{path}: cannot read the suite: {error.strerror}{hint}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: the suite is not UTF-8 text") from None


def spelled_out(path: Path) -> Path:
    """The path of a suite: a bare name, such as ``quick``, means the shipped suite of that name,
    unless a file has it.
    """
    is_short = len(path.parts) == 1 and not path.exists() and path.name in shipped.names()
    return shipped.path(path.name) if is_short else path


def parse(text: str, origin: str, data_sets: Finder | None = None) -> Suite:
    """Check a suite's text; errors begin with ``origin``. ``data_sets`` finds the data sets that the suite names;
    without it, only shipped ones are known.
    """
    return checked(text, origin, Suite, "suite", "with name, seed, budget and experiments", context=data_sets)


def checked(  # noqa: PLR0913 - a text, and what it is to be
    text: str,
    origin: str,
    form: type[Form],
    noun: str,
    definition: str,
    *,
    context: Any = None,
    completed: Callable[[dict[str, Any]], dict[str, Any]] = lambda values: values,
) -> Form:
    """The values of a YAML text in a form. Raises ``UserError`` with ``origin``, line and remedy for every fault;
    ``noun`` and ``definition`` name what the text should be. ``completed`` may add values before they are checked.
    """
    try:
        document = _document(text, origin)
        values = _plain(document, {})
    except ValueError as error:  # the 32nd of a month, a number of 5,000 digits
        raise UserError(f"{origin}: a value that cannot be read: {error}") from None
    except RecursionError:
        raise UserError(f"{origin}: no {noun} is nested that deep") from None
    if _expanded(values, {}) > _LARGEST_EXPANDED:
        raise UserError(f"{origin}: aliases make the {noun} too large: write fewer of them")
    if not isinstance(document, CommentedMap):
        raise UserError(f"{origin}:1: a {noun} is a mapping {definition}")
    try:
        return form.model_validate(completed(values), context=context)
    except ValidationError as error:
        problems = error.errors(include_url=False)[:_MAX_PROBLEMS]
        raise UserError("\n".join(_sentences(problems, document, origin, (noun, form)))) from None


def plain(text: str, origin: str) -> dict[str, Any]:
    """A suite's text that :func:`parse` takes, as plain dicts, lists and scalars."""
    document: dict[str, Any] = _plain(_document(text, origin), {})
    return document


def _document(text: str, origin: str) -> Any:
    try:
        parser = YAML(typ="rt")
        parser.composer.warn_double_anchors = False  # repeated anchors are valid YAML
        return parser.load(io.StringIO(text))
    except MarkedYAMLError as error:
        line = (error.problem_mark or error.context_mark).line + 1
        raise UserError(f"{origin}:{line}: not YAML: {error.problem}") from None
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise UserError(
            f"{origin}:{line}: not YAML: the character U+{error.character:04X} is not allowed"
        ) from None
    except YAMLError as error:
        raise UserError(f"{origin}: not YAML: {error}") from None
    except (AttributeError, IndexError, KeyError, TypeError):  # the parser's own errors, under a tag
        raise UserError(
            f"{origin}: not YAML: a tag (such as !!bool), a merge key (<<) or a list as a key has a value that it "
            "cannot have; a suite needs none of these"
        ) from None


def _plain(value: Any, by_identity: dict[int, Any]) -> Any:
    """Plain dicts, lists and scalars of a parsed document, whose round-trip types carry the line numbers.

    ``by_identity`` holds converted objects: an alias stays one object, however often it is used. Raises ``ValueError``
    for a number that no message can show.
    """
    if id(value) in by_identity:
        return by_identity[id(value)]
    if isinstance(value, CommentedMap):
        mapping = by_identity[id(value)] = {}
        for key, item in value.items():
            _require_tellable(key)
            mapping[key] = _plain(item, by_identity)
        return mapping
    if isinstance(value, CommentedSeq):
        items = by_identity[id(value)] = []
        items.extend(_plain(item, by_identity) for item in value)
        return items
    if isinstance(value, bool) or value is None:
        return value
    _require_tellable(value)
    for kind in (int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return value


def _expanded(value: Any, by_identity: dict[int, float]) -> float:
    """The number of values and characters of a plain document with every alias expanded; infinite if it contains
    itself.
    """
    if isinstance(value, str):
        return 1 + len(value)
    if not isinstance(value, (dict, list)):
        return 1
    if id(value) not in by_identity:
        by_identity[id(value)] = math.inf
        parts = [*value, *value.values()] if isinstance(value, dict) else value
        by_identity[id(value)] = 1 + sum(_expanded(part, by_identity) for part in parts)
    return by_identity[id(value)]


def _require_tellable(value: Any) -> None:
    """Raise ``ValueError`` for a number with too many decimal digits, which base 16 allows in the text."""
    if isinstance(value, int):
        str(value)


def _sentences(
    problems: Iterable[ErrorDetails], document: CommentedMap, origin: str, kind: tuple[str, type[BaseModel]]
) -> list[str]:
    """One sentence per place, in the order of lines: the first of several errors about one place."""
    placed = [(_real_location(problem["loc"], document), problem) for problem in problems]
    sentences: dict[Location, tuple[int, str]] = {}
    for place, problem in placed:
        if not _is_far_fetched(problem) or not _has_better(place, placed):
            sentences.setdefault(place, (_line(place, document), _sentence(problem, place, *kind)))
    return [f"{origin}:{line}: {sentence}" for line, sentence in sorted(sentences.values())]


def _is_far_fetched(problem: ErrorDetails) -> bool:
    """Whether an error is misleading for a union of types: a value of another type is no listed word, a word is not of
    another type, or a value is no mapping.
    """
    if problem["type"] == "model_type":
        return True
    if isinstance(problem["input"], str):
        return problem["type"] in ("int_type", "list_type")
    return problem["type"] == "literal_error"


def _has_better(place: Location, placed: Iterable[tuple[Location, ErrorDetails]]) -> bool:
    return any(
        other[: len(place)] == place and (len(other) > len(place) or not _is_far_fetched(problem))
        for other, problem in placed
    )


def _real_location(location: Location, document: CommentedMap) -> Location:
    """The part of pydantic's location that exists in the document; pydantic adds names of union members."""
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
        lines = node.lc.data or {}
        if step in lines:  # a merged key has its line elsewhere: use the merging item's
            line = lines[step][0] + 1
        node = node[step]
    return line


def _sentence(problem: ErrorDetails, place: Location, noun: str, form: type[BaseModel]) -> str:
    name = ".".join(str(step) for step in place)
    if problem["type"] == "extra_forbidden":
        keys = _known_keys(problem["loc"][:-1], form)
        now = renamed.KEYS.get(str(place[-1]))
        if now in keys:
            return f"{place[-1]!r} is now {now!r}"
        elsewhere = _of_other_form(problem["loc"])
        if elsewhere is not None:
            return f"{elsewhere}; keys here: {', '.join(keys)}"
        return f"unknown key {place[-1]!r}{did_you_mean(str(place[-1]), keys)}; keys here: {', '.join(keys)}"
    if problem["type"] == "missing":
        return f"{name or f'the {noun}'} lacks the key {str(problem['loc'][-1])!r}"
    if problem["type"] == "literal_error":
        expected = str(problem["ctx"]["expected"])
        choices = [word.strip("'") for word in expected.replace(" or ", ", ").split(", ")]
        now = renamed.VALUES.get(str(problem["input"]))
        if now in choices:
            return f"{name}: {problem['input']!r} is now {now!r}"
        hint = did_you_mean(str(problem["input"]), choices)
        return f"{name}: {_REPR.repr(problem['input'])} is not one of {expected}{hint}"
    text = _TEXTS.get(problem["type"], problem["msg"]).replace("Input should be", "must be")
    text = text.removeprefix("Value error, ").replace("{input}", _REPR.repr(problem["input"]))
    return f"{name}: {text}" if name else text


def _of_other_form(location: Location) -> str | None:
    """A hint for a key that experiments of this form lack and those of another form have."""
    *_, form, key = (None, *location)
    other = {"measured": "family", "family": "measured"}.get(str(form))
    if other is None or key not in FORMS[other].model_fields:
        return None
    kinds = families(WORKLOADS) if other == "family" else KINDS
    return f"{key!r} belongs to experiments of the kinds {', '.join(kinds)}"


def _known_keys(location: Location, form: type[BaseModel]) -> list[str]:
    """The keys of the form below a location, in pydantic's terms."""
    model = form
    for step in location:
        if step in model.model_fields:
            model = _model_in(model.model_fields[str(step)].annotation) or model
        elif step in FORMS:
            model = FORMS[str(step)]
    return list(model.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for item in get_args(annotation) if (model := _model_in(item))), None)
