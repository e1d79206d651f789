"""The arguments that operations have, each once."""

from __future__ import annotations

from ciphermark_contract.operations.operation import Argument, Number

_MOST_HANDLES = 1 << 16


def _whole(number: Number) -> str | None:
    return None if isinstance(number, int) else f"{number} is no whole number"


def _odd(number: Number) -> str | None:
    return _whole(number) or (None if int(number) % 2 else f"a Galois element is odd, and {number} is not")


def _many(number: Number) -> str | None:
    return _whole(number) or (
        None if 2 <= number <= _MOST_HANDLES else f"{number} is not between 2 and {_MOST_HANDLES}"
    )


def _ordinal(number: Number) -> str | None:
    return _whole(number) or (None if number >= 0 else f"words are numbered from 0, and {number} is less")


STEPS = Argument("steps", "steps, > 0 to the left", _whole, ((1,), (-1,)))
SEVERAL_STEPS = Argument("steps", "steps, > 0 to the left", _whole, ((1, 2, 4, 8),), is_list=True)
ELEMENT = Argument("element", "a Galois element: an odd k, modulo 2N", _odd, ((3,),))
EXPONENT = Argument("exponent", "the k of X^k", _whole, ((1,),))
SCALAR = Argument(
    "number", "a number: whole in bfv and bgv", lambda _: None, ((3,),), whole_in=("bfv", "bgv")
)
WORD = Argument("word", "the number of a word, from 0", _ordinal, ((0,), (1,)))
COUNT = Argument("count", "how many", _many, ((8,),), is_count=True)
