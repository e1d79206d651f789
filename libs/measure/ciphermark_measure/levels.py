"""The levels of a modulus chain at which an operation exists. Pure."""

from __future__ import annotations

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
        _result(call, parameters, level)
    except Exhausted as error:
        return f"{operation} does not exist at level {level}: {error}"
    return None


def possible(operation: str, parameters: Parameters, declared: Declaration) -> list[int]:
    """The levels at which an operation exists, the highest first."""
    levels = range(top_level(parameters), -1, -1)
    return [level for level in levels if reason_at(operation, level, parameters, declared) is None]


def _takes_ciphertext(call: Call) -> bool:
    return bool({Kind.CIPHERTEXT, Kind.TRANSFORMED} & {*call.operation.operands})


def _result(call: Call, parameters: Parameters, level: int) -> Shape:
    """The shape of a result for operands at a level; raises ``Exhausted`` where there is none."""
    row = call.operation
    if row.transformed_by is not None:
        operand = _result(Call(OPERATIONS[row.transformed_by]), parameters, level)
        return row.shape_after(parameters, operand, *call.operands)
    fresh = Shape(level, parameters.scale)
    of_kind: dict[Kind, Any] = {
        Kind.PLAINTEXT: Shape(level, parameters.scale, 1),
        Kind.NTT_PLAINTEXT: Shape(level, parameters.scale, 1),
        Kind.NUMBER: 1.0,
    }
    handles = [of_kind.get(kind, fresh) for kind in row.operands for _ in range(call.count)]
    return row.shape_after(parameters, *handles, *call.operands)
