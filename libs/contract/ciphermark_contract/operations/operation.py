"""What a row of the operation table says, and an operation together with its arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from ciphermark_contract import noise_bound
from ciphermark_contract.keys import NO_KEYS, KeyRequest
from ciphermark_contract.operations.meaning import Ring
from ciphermark_contract.operations.shapes import Shape, kept
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import SCHEMES, Parameters, Scheme

Number: TypeAlias = int | float
Arguments: TypeAlias = tuple[Number, ...]


class Kind(Enum):
    """What an operand or a result is.

    A *prepared* plaintext is in NTT form: what ``transform_plain`` makes of an encoded one, or the encoded one
    itself where the library encodes to NTT form. A ciphertext *in NTT form* is what
    ``transform_ciphertext`` makes of one, or the ciphertext itself where the library keeps them so. A ciphertext that
    is taken *as words* is no secret to the operation: not what it holds counts, but its own coefficients.
    """

    CIPHERTEXT = "ciphertext"
    CIPHERTEXTS = "several ciphertexts"
    TRANSFORMED = "ciphertext in NTT form"
    WORDS = "ciphertext, as words"
    PLAINTEXT = "encoded plaintext"
    NTT_PLAINTEXT = "plaintext in NTT form"
    VECTOR = "vector of all slots"
    NUMBER = "number, for all slots"


def _fits_every_ring(_: Number, __: int) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Argument:
    """A number that a suite writes beside the name: ``rotate: [1, 64]`` are ``rotate(1)`` and ``rotate(64)``.

    ``check`` says what is wrong with a number, or ``None``. ``defaults`` are what a suite takes that writes none.
    With ``is_list`` an operation takes several at once. ``is_count`` numbers are how many handles a several-handle
    operand has, and are not given to the operation; others are its last operands. In the schemes ``whole_in`` a
    fraction means nothing. ``at_ring`` says why a number makes no case at a ring dimension, or ``None``.
    """

    name: str
    sentence: str
    check: Callable[[Number], str | None]
    defaults: tuple[Arguments, ...]
    is_list: bool = False
    is_count: bool = False
    whole_in: tuple[Scheme, ...] = ()
    at_ring: Callable[[Number, int], str | None] = _fits_every_ring


def _no_keys(*_: Number) -> KeyRequest:
    return NO_KEYS


@dataclass(frozen=True, slots=True)
class Operation:
    """One row of the table.

    ``summary`` is a sentence for the reader. ``Operator.apply`` takes operands in this order, all flat: the handles
    of the first of ``operands``, those of the next, then the arguments. ``meaning`` takes the ring, the operands'
    slot vectors and the arguments (see :mod:`.meaning`), ``effect`` the parameters, the operands' shapes and the
    arguments (see :mod:`.shapes`); the shape it tells is that of every result. Where each operand is several
    handles, both take a list for each, and likewise for a list of arguments. Of a ciphertext that is taken as words,
    ``meaning`` takes these (see :mod:`.words`), which only the library tells. ``keys`` takes the arguments: what the
    primitive cannot do without. ``operand_level`` is the level that the first operand is measured at, the top if
    ``None``; ``error`` bounds that of a correct result in ckks, given the parameters and the number of ciphertexts.

    ``is_product``: of two ciphertexts, with a polynomial more. ``not_in`` is why it is missing in other ``schemes``,
    ``absence`` why a library may lack it that gives no reason of its own. ``is_rotation`` moves slots.
    ``is_multiplication`` lets noise grow by a factor. ``transformed_by`` names the operation whose result the one
    operand is. ``is_at_scale`` encodes the plaintext at the ciphertext's scale. ``is_repeatable`` takes its own
    result for its first operand again. ``is_managed``: circuits may use it, with levels and scales taken care of.
    ``is_maintenance``: what a library in charge of levels does by itself, so that it is no node of a managed program.
    ``is_sequence``: several primitives by its very meaning, which a library may have in fewer calls or in as many: it
    is composed for nobody.
    ``is_default``: measured where a suite names no operation.
    """

    name: str
    summary: str
    operands: tuple[Kind, ...]
    meaning: Callable[..., Any]
    effect: Callable[..., Shape] = kept
    result: Kind = Kind.CIPHERTEXT
    schemes: tuple[Scheme, ...] = SCHEMES
    not_in: str = ""
    absence: str = ""
    argument: Argument | None = None
    keys: Callable[..., KeyRequest] = _no_keys
    operand_level: Callable[[Parameters], int] | None = None
    error: Callable[[Parameters, int], float] = noise_bound.one_operation
    is_rotation: bool = False
    is_multiplication: bool = False
    is_product: bool = False
    transformed_by: str | None = None
    is_at_scale: bool = False
    is_repeatable: bool = False
    is_managed: bool = False
    is_maintenance: bool = False
    is_sequence: bool = False
    is_default: bool = False

    @property
    def has_several_results(self) -> bool:
        """Whether one execution yields a list of results."""
        return self.result is Kind.CIPHERTEXTS

    @property
    def yields_ciphertexts(self) -> bool:
        """Whether results are ciphertexts, in whatever form."""
        return self.result in (Kind.CIPHERTEXT, Kind.CIPHERTEXTS, Kind.TRANSFORMED)

    def shape_after(self, parameters: Parameters, *operands: Any) -> Shape:
        """The shape of every result for operands as ``Operator.apply`` takes them, shapes in the place of handles.

        Raises ``Exhausted`` where no level is left, ``Unsupported`` for arguments that mean nothing in the scheme.
        """
        self.require_arguments(parameters.spec.scheme, operands)
        return self.effect(parameters, *self.gathered(operands))

    def slots_after(self, ring: Ring, *operands: Any) -> Any:
        """The result's slots (a list of vectors where there are several results), operands as ``Operator.apply``
        takes them, full slot vectors in the place of handles."""
        return self.meaning(ring, *self.gathered(operands))

    def gathered(self, operands: Sequence[Any]) -> tuple[Any, ...]:
        """Operands of several handles as one list each, arguments that are a list as one, too."""
        kinds = len(self.operands)
        if self.takes_several:
            share = len(operands) // kinds
            return tuple(list(operands[start : start + share]) for start in range(0, len(operands), share))
        arguments = operands[kinds:]
        is_list = self.argument is not None and self.argument.is_list
        return (*operands[:kinds], *([arguments] if is_list else arguments))

    def require_arguments(self, scheme: Scheme, operands: Sequence[Any]) -> None:
        """Raise ``Unsupported`` where an argument among these operands means nothing in a scheme."""
        if not self.takes_several:
            reason = Call(self, tuple(operands[len(self.operands) :])).reason_in(scheme)
            if reason is not None:
                raise Unsupported(reason)

    @property
    def takes_several(self) -> bool:
        """Whether each operand is as many handles as the row has."""
        return self.argument is not None and self.argument.is_count

    @property
    def takes_ciphertexts_only(self) -> bool:
        """Whether there is nothing to encode among the operands."""
        return {*self.operands} <= {Kind.CIPHERTEXT}

    def calls(self) -> list[Call]:
        """The operation as a suite takes it that writes no argument: once for each default."""
        return [Call(self, arguments) for arguments in (self.argument.defaults if self.argument else ((),))]


@dataclass(frozen=True, slots=True)
class Call:
    """An operation with its arguments: what a case measures."""

    operation: Operation
    arguments: Arguments = ()

    @property
    def name(self) -> str:
        """The operation's name."""
        return self.operation.name

    @property
    def text(self) -> str:
        """As a case writes it: ``rotate(64)``."""
        return f"{self.name}({', '.join(map(str, self.arguments))})" if self.arguments else self.name

    @property
    def keys(self) -> KeyRequest:
        """The keys that the primitive cannot do without."""
        return self.operation.keys(*self.arguments)

    @property
    def managed_keys(self) -> KeyRequest:
        """The keys that the managed form uses: a product is relinearized."""
        return self.keys | KeyRequest.of(relinearization=self.operation.is_product)

    def reason_in(self, scheme: Scheme) -> str | None:
        """Why an argument means nothing in a scheme, or ``None``."""
        argument = self.operation.argument
        if argument is None or scheme not in argument.whole_in:
            return None
        fractions = (number for number in self.arguments if not float(number).is_integer())
        return next(
            (f"{self.name}: {number} is no integer, as slots of {scheme} are" for number in fractions), None
        )

    def reason_at(self, ring_dimension: int) -> str | None:
        """Why this is not measured at a ring dimension, in a sentence for the user; ``None`` where it can be."""
        argument = self.operation.argument
        if argument is None:
            return None
        reasons = (argument.at_ring(number, ring_dimension) for number in self.arguments)
        return next(filter(None, reasons), None)

    @property
    def operands(self) -> Arguments:
        """The arguments as operands of ``Operator.apply``, after the handles."""
        return () if self.operation.takes_several else self.arguments

    @property
    def count(self) -> int:
        """How many handles each operand is."""
        return int(self.arguments[0]) if self.operation.takes_several else 1

    @property
    def largest_result(self) -> float:
        """The largest magnitude of a result in ckks, of operands of at most 1: all are 1 or -1."""
        ring = Ring(_SMALL_RING, None)
        ones = np.ones(ring.slots)
        results = (
            self.meaning(ring, *(sign * ones for sign in signs for _ in range(self.count)))
            for signs in product((1, -1), repeat=len(self.operation.operands))
        )
        return max(float(np.abs(result).max()) for result in results)

    def meaning(self, ring: Ring, *vectors: Any) -> Any:
        """The expected slots (a list of vectors where there are several results) for full slot vectors."""
        return self.operation.slots_after(ring, *vectors, *self.operands)


def reason_against_arguments(operation: Operation, arguments: Sequence[Number]) -> str | None:
    """What is wrong with these arguments of an operation, or ``None``."""
    argument = operation.argument
    if argument is None:
        return f"{operation.name} takes no argument" if arguments else None
    if not arguments or (len(arguments) > 1 and not argument.is_list):
        return (
            f"{operation.name} takes {'one or more of ' if argument.is_list else 'one: '}{argument.sentence}"
        )
    reasons = (argument.check(number) for number in arguments)
    return next((f"{operation.name}: {reason}" for reason in reasons if reason), None)


_MAX_HANDLES = 1 << 16
_SMALL_RING = 16  # results are as large at any


def _whole(number: Number) -> str | None:
    return None if isinstance(number, int) else f"{number} is no whole number"


def _odd(number: Number) -> str | None:
    return _whole(number) or (None if int(number) % 2 else f"a Galois element is odd, and {number} is not")


def _many(number: Number) -> str | None:
    return _whole(number) or (
        None if 2 <= number <= _MAX_HANDLES else f"{number} is not between 2 and {_MAX_HANDLES}"
    )


def _ordinal(number: Number) -> str | None:
    return _whole(number) or (None if number >= 0 else f"words are numbered from 0, and {number} is less")


def within_row(steps: int, ring_dimension: int) -> bool:
    """Whether slots are rotated by so many steps, > 0 to the left: rows have N/2 slots, in ckks and in bfv and bgv."""
    return 1 <= abs(steps) < ring_dimension // 2


def _reason_against_steps(steps: Number, ring_dimension: int) -> str | None:
    if within_row(int(steps), ring_dimension):
        return None
    row = ring_dimension // 2
    return (
        f"rows have {row} slots at N = {ring_dimension}: rotate by 1 to {row - 1} steps, or by -1 to {1 - row}, "
        f"not by {steps}"
    )


STEPS = Argument(
    "steps",
    "steps, > 0 to the left, fewer than the N/2 of a row",
    _whole,
    ((1,), (-1,)),
    at_ring=_reason_against_steps,
)
SEVERAL_STEPS = Argument(
    "steps",
    "steps, > 0 to the left, fewer than the N/2 of a row",
    _whole,
    ((1, 2, 4, 8),),
    is_list=True,
    at_ring=_reason_against_steps,
)
ELEMENT = Argument("element", "a Galois element: an odd k, modulo 2N", _odd, ((3,),))
EXPONENT = Argument("exponent", "the k of X^k", _whole, ((1,),))
SCALAR = Argument(
    "number", "a number: whole in BFV and BGV", lambda _: None, ((3,),), whole_in=("bfv", "bgv")
)
WORD = Argument("word", "the number of a word, from 0", _ordinal, ((0,), (1,)))
COUNT = Argument("count", "how many", _many, ((8,),), is_count=True)
