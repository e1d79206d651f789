"""The levels of a modulus chain at which an operation exists. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ciphermark_contract.declaration import Declaration
from ciphermark_contract.operations import OPERATIONS, Call, Kind, Shape, read, top_level
from ciphermark_core.errors import Exhausted
from ciphermark_core.model import Parameters


def reason_at(operation: str, level: int, parameters: Parameters, declared: Declaration) -> str | None:
    """Why an operation, as cases write it, is not measured at a level, in a sentence for the user; ``None`` where it
    is.
    """
    top, scheme = top_level(parameters), parameters.spec.scheme
    if level > top:
        return f"the modulus chain has the levels 0 to {top}, and no level {level}"
    stay = declared.reason_against_lowering(scheme)
    if level < top and stay is not None:
        return f"operands stay at level {top}: {stay}"
    call = read(operation)
    if level < top and not _takes_ciphertext(call):
        return f"{operation} takes no ciphertext: it is at level {top}"
    try:
        result_shape(call, parameters, level)
    except Exhausted as error:
        return f"{operation} does not exist at level {level}: {error}"
    return None


def possible(operation: str, parameters: Parameters, declared: Declaration) -> list[int]:
    """The levels at which an operation exists, the highest first."""
    levels = range(top_level(parameters), -1, -1)
    return [level for level in levels if reason_at(operation, level, parameters, declared) is None]


def operand_shapes(call: Call, parameters: Parameters, level: int) -> list[tuple[Kind, Shape]]:
    """The kind and shape of each operand at a level; raises ``Exhausted`` where an operand does not exist."""
    row = call.operation
    if row.transformed_by is not None:
        return [(Kind.CIPHERTEXT, result_shape(Call(OPERATIONS[row.transformed_by]), parameters, level))]
    fresh = Shape(level, parameters.scale)
    plain = replace(fresh, polynomials=1)
    of_kind = dict.fromkeys((Kind.PLAINTEXT, Kind.NTT_PLAINTEXT, Kind.VECTOR, Kind.NUMBER), plain)
    return [(kind, of_kind.get(kind, fresh)) for kind in row.operands for _ in range(call.count)]


def result_shape(call: Call, parameters: Parameters, level: int) -> Shape:
    """The shape of a result for operands at a level; raises ``Exhausted`` where there is none."""
    shapes: list[Any] = [
        1.0 if kind is Kind.NUMBER else shape for kind, shape in operand_shapes(call, parameters, level)
    ]
    return call.operation.shape_after(parameters, *shapes, *call.operands)


def _takes_ciphertext(call: Call) -> bool:
    return bool({Kind.CIPHERTEXT, Kind.TRANSFORMED} & {*call.operation.operands})
