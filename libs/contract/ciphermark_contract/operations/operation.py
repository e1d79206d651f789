"""Types of the operation table: its rows, and an operation with its arguments."""

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
    """The kind of an operand or a result.

    A *prepared* plaintext is in NTT form: the result of ``transform_plain``, or the encoded plaintext itself where the
    library encodes to NTT form. A ciphertext *in NTT form* is the result of ``transform_ciphertext``, or the ciphertext
    itself where the library keeps it so. The operation reads the coefficients of a ciphertext taken *as words*, not the
    values that it encrypts.
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
    """A number that a suite writes after the name: ``rotate: [1, 64]`` are ``rotate(1)`` and ``rotate(64)``.

    ``check`` returns the fault of a number, or ``None``. ``defaults`` apply to a suite that writes no number. With
    ``is_list``, an operation takes several at once. ``is_count`` numbers are numbers of handles of an operand and are
    not passed to the operation; others are its last operands. In the schemes ``whole_in``, only whole numbers have a
    meaning. ``at_ring`` returns why a number gives no case at a ring dimension, or ``None``.
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
    arguments (see :mod:`.shapes`); the returned shape is that of every result. Where each operand is several
    handles, both take a list for each, and likewise for a list of arguments. For a ciphertext taken as words,
    ``meaning`` takes the words (see :mod:`.words`), which only the library can report. ``keys`` maps the arguments to
    the keys that the primitive requires. ``operand_level`` is the level of the first operand in measurements, the top
    if ``None``. ``error`` bounds the error of a correct result in ckks, given the parameters and the number of
    ciphertexts.

    - ``is_product``: a product of two ciphertexts, with one more polynomial.
    - ``not_in`` is the reason for its absence in schemes other than ``schemes``; ``absence`` is the default reason for
      a library's lack of it.
    - ``is_rotation``: it moves slots.
    - ``is_multiplication``: noise grows by a factor.
    - ``transformed_by`` names the operation whose result is its operand.
    - ``is_at_scale``: it encodes the plaintext at the ciphertext's scale.
    - ``is_repeatable``: it accepts its own result as the first operand.
    - ``is_managed``: circuits may use it, with levels and scales managed.
    - ``is_maintenance``: libraries that manage levels do it automatically, so managed programs have no such node.
    - ``is_sequence``: it means several primitives, in any number of calls of a library, and is never composite.
    - ``is_default``: it is measured where a suite names no operation.
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
        """Whether results are ciphertexts, in any form."""
        return self.result in (Kind.CIPHERTEXT, Kind.CIPHERTEXTS, Kind.TRANSFORMED)

    def shape_after(self, parameters: Parameters, *operands: Any) -> Shape:
        """The shape of every result, for operands as ``Operator.apply`` takes them, with shapes in place of handles.

        Raises ``Exhausted`` where no level is left, ``Unsupported`` for arguments without a meaning in the scheme.
        """
        self.require_arguments(parameters.spec.scheme, operands)
        return self.effect(parameters, *self.gathered(operands))

    def slots_after(self, ring: Ring, *operands: Any) -> Any:
        """The result's slots: a list of vectors where there are several results.

        Operands are as ``Operator.apply`` takes them, with full slot vectors in place of handles.
        """
        return self.meaning(ring, *self.gathered(operands))

    def gathered(self, operands: Sequence[Any]) -> tuple[Any, ...]:
        """The operands, with those of several handles as one list each, and list arguments as one list, too."""
        kinds = len(self.operands)
        if self.takes_several:
            share = len(operands) // kinds
            return tuple(list(operands[start : start + share]) for start in range(0, len(operands), share))
        arguments = operands[kinds:]
        is_list = self.argument is not None and self.argument.is_list
        return (*operands[:kinds], *([arguments] if is_list else arguments))

    def require_arguments(self, scheme: Scheme, operands: Sequence[Any]) -> None:
        """Raise ``Unsupported`` where an argument among these operands has no meaning in a scheme."""
        if self.argument is not None and not self.takes_several:
            reason = Call(self, tuple(operands[len(self.operands) :])).reason_in(scheme)
            if reason is not None:
                raise Unsupported(reason)

    @property
    def takes_several(self) -> bool:
        """Whether each operand consists of several handles."""
        return self.argument is not None and self.argument.is_count

    @property
    def takes_ciphertexts_only(self) -> bool:
        """Whether there is nothing to encode among the operands."""
        return {*self.operands} <= {Kind.CIPHERTEXT}

    def calls(self) -> list[Call]:
        """The calls for a suite that writes no argument: one per default."""
        return [Call(self, arguments) for arguments in (self.argument.defaults if self.argument else ((),))]


@dataclass(frozen=True, slots=True)
class Call:
    """An operation with its arguments, as measured by a case."""

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
        """The keys that the primitive requires."""
        return self.operation.keys(*self.arguments)

    @property
    def managed_keys(self) -> KeyRequest:
        """The keys that the managed form uses: a product is relinearized."""
        return self.keys | KeyRequest.of(relinearization=self.operation.is_product)

    def reason_in(self, scheme: Scheme) -> str | None:
        """Return why an argument has no meaning in a scheme, or ``None``."""
        argument = self.operation.argument
        if argument is None or scheme not in argument.whole_in:
            return None
        fractions = (number for number in self.arguments if not float(number).is_integer())
        return next(
            (f"{self.name}: {number} is no integer, as slots of {scheme} are" for number in fractions), None
        )

    def reason_at(self, ring_dimension: int) -> str | None:
        """Return, as a sentence for the user, why a ring dimension excludes this call, or ``None``."""
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
        """The number of handles of each operand."""
        return int(self.arguments[0]) if self.operation.takes_several else 1

    @property
    def largest_result(self) -> float:
        """The largest magnitude of a result in ckks for operands of at most 1: all are 1 or −1."""
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
    """Return the fault of these arguments of an operation, or ``None``."""
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
    """Whether a row of N/2 slots, in any scheme, allows a rotation by ``steps``, > 0 to the left."""
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
