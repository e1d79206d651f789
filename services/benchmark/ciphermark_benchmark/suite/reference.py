"""Every key of the suite form with its values, default, meaning and an example, as a page of documentation. Pure."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from typing import Any

from ruamel.yaml import YAML

from ciphermark_benchmark.suite import form

# The mappings of a suite, in the order of the page: name of the definition, heading, what it is.
_SECTIONS = (
    ("", "A suite", "The keys at the top of a file."),
    ("BudgetText", "`budget`", "How much measuring each trial gets."),
    (
        "ExperimentText",
        "An experiment",
        "Operations and chains of them, on vectors. What takes a list makes a case of every combination.",
    ),
    (
        "WorkloadText",
        "An experiment with workloads",
        "Whole computations between two parties; the kind is the name of their family (`ciphermark workload list`).",
    ),
    ("PlainModulus", "`plain_modulus`", "One of both."),
)
_BEGINNING = """# Every key of a suite

Written by `ciphermark suite keys` from the form that suites are checked with; `ciphermark suite schema` is the same
for editors. `ciphermark suite new` writes a suite for you, and the [cookbook](cookbook.md) has suites for what people
ask.
"""


def page() -> str:
    """The page, in Markdown."""
    return "\n".join([_BEGINNING, *_sections(form.json_schema())])


def _sections(schema: Mapping[str, Any]) -> Iterator[str]:
    for definition, heading, sentence in _SECTIONS:
        mapping = schema["$defs"][definition] if definition else schema
        yield f"## {heading}\n\n{sentence}\n"
        yield "| key | values | default | meaning | example |"
        yield "|---|---|---|---|---|"
        for name, field in mapping["properties"].items():
            default = _default(field, name in mapping.get("required", ()))
            example = " ".join(f"`{name}: {_yaml(value)}`" for value in field.get("examples", ()))
            values = _values(field, schema["$defs"])
            yield f"| `{name}` | {values} | {default} | {field['description']} | {example} |"
        yield ""


def _default(field: Mapping[str, Any], is_required: bool) -> str:
    if is_required:
        return "must be given"
    value = field.get("default")
    return "none" if value is None else f"`{_yaml(value)}`"


def _values(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """What a field may be, in words, from its JSON Schema."""
    if "anyOf" in field:
        several = [_values(item, definitions) for item in field["anyOf"] if item.get("type") != "null"]
        return " or ".join(dict.fromkeys(several))
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    if "const" in field:
        return f"`{field['const']}`"
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        has_section = any(name == section for section, _, _ in _SECTIONS)
        return "mapping, see below" if has_section else _values(definitions[name], definitions)
    return _of_type(field, definitions)


def _of_type(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    match field.get("type"):
        case "array":
            items = field.get("items", {})
            return "list of experiments" if "oneOf" in items else f"list of {_values(items, definitions)}"
        case "integer":
            return f"whole number{_range(field)}"
        case "number":
            return f"number{_range(field)}"
        case "object":
            return "mapping"
        case _:
            return "text"


def _range(field: Mapping[str, Any]) -> str:
    least = field.get("minimum", field.get("exclusiveMinimum"))
    most = field.get("maximum", field.get("exclusiveMaximum"))
    above = None if least is None else f"{'above' if 'exclusiveMinimum' in field else 'from'} {least:,}"
    below = None if most is None else f"{'below' if 'exclusiveMaximum' in field else 'to'} {most:,}"
    known = [text for text in (above, below) if text]
    return f" {' '.join(known)}" if known else ""


def _yaml(value: Any) -> str:
    """A value as a suite has it, on one line; of a mapping what is set."""
    if isinstance(value, dict):
        value = {name: item for name, item in value.items() if item is not None}
    yaml = YAML(typ="safe")
    yaml.default_flow_style, yaml.width = True, 10_000
    stream = io.StringIO()
    yaml.dump(value, stream)
    return stream.getvalue().removesuffix("...\n").strip()
