"""Examples of bodies in a service's description, composed of those that its schemas give.

A schema's own example comes first; else one is made of the examples of its properties or items. Tools show the
examples of bodies, and few look into schemas for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]


def spread(description: dict[str, Any]) -> None:
    """Give every body of an OpenAPI description an example; one whose schema has too few of them stays as it is."""
    schemas = description["components"]["schemas"]
    for body in bodies(description):
        if not {"example", "examples"} & body.keys():
            for example in _found(body["schema"], schemas):
                body["example"] = example


def bodies(description: Schema) -> Iterator[dict[str, Any]]:
    """The media types of all requests and answers of an OpenAPI description."""
    for path in description["paths"].values():
        for operation in path.values():
            for part in (operation.get("requestBody", {}), *operation["responses"].values()):
                yield from part.get("content", {}).values()


def _found(schema: Schema, schemas: Schema) -> list[Any]:
    """The example of a schema, in a list; an empty one where there is none."""
    if "examples" in schema:
        return [schema["examples"][0]]
    if "$ref" in schema:
        return _found(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    if "properties" in schema:
        return _of_properties(schema, schemas)
    if "items" in schema:
        item = _found(schema["items"], schemas)
        return [item] if item else []
    return []


def _of_properties(schema: Schema, schemas: Schema) -> list[Any]:
    """Of all properties that have an example; none where a required one has not."""
    found = {name: _found(item, schemas) for name, item in schema["properties"].items()}
    if not all(found[name] for name in schema.get("required", ())):
        return []
    return [{name: example[0] for name, example in found.items() if example}]
