"""Computations: a plain Python function over vectors as a workload.

::

    @computation(x=reals(4096, low=-2, high=2), tolerance=1e-3)
    def horner(x):
        y = 0.004
        for c in (-0.012, 0.031, -0.05):
            y = y * x + c
        return y

The function is the reference on arrays. On expressions it yields the graph that becomes the circuit. Scheme, ring,
modulus chain, scale or plaintext modulus, packing and keys follow: see :mod:`.computation_parameters`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeAlias

import msgspec
import numpy as np

from ciphermark_circuits.arrangement import Arranged, arranged
from ciphermark_circuits.expressions import Expression, Numbers, Plain, constant, is_bounded, moves_values
from ciphermark_circuits.layout import centred
from ciphermark_circuits.lowering import Packing, lower, width_of
from ciphermark_contract.interfaces import Evaluator, Handle, Vector
from ciphermark_core.errors import UserError
from ciphermark_core.model import EXACT_SCHEMES, Parameters, ParameterSpec, Scheme
from ciphermark_workloads.computation_parameters import Graph, Selection
from ciphermark_workloads.options import NEWER
from ciphermark_workloads.workload import Arrays, Choice, Decision, Handles, Workload

Given: TypeAlias = Mapping[str, Numbers]
_LONGEST = 1 << 22


@dataclass(frozen=True, slots=True)
class Input:
    """A vector of ``length`` values between ``low`` and ``high``: encrypted, or ``is_public``.

    Its values are random from a seed, or always ``values``.
    """

    length: int
    low: float
    high: float
    is_whole: bool
    is_public: bool = False
    values: Numbers | None = None

    def made(self, seed: np.random.Generator) -> Numbers:
        """Its values, from a generator of random numbers."""
        if self.values is not None:
            return self.values
        if self.is_whole:
            return seed.integers(int(self.low), int(self.high), self.length, endpoint=True)
        return seed.uniform(self.low, self.high, self.length)

    def checked(self, values: Sequence[float] | Numbers, name: str) -> Numbers:
        """Values of a user for it; raises ``UserError`` for other numbers than it declares."""
        numbers = np.asarray(values)
        if numbers.shape != (self.length,):
            raise UserError(f"{name} takes {self.length} values, not {numbers.size}")
        outside = ~((numbers >= self.low) & (numbers <= self.high))
        if outside.any():
            at = int(np.flatnonzero(outside)[0])
            raise UserError(
                f"{name}: value {at} is {numbers[at]:g}, outside of its bounds [{self.low:g}, {self.high:g}]"
            )
        if self.is_whole and not (numbers == np.rint(numbers)).all():
            raise UserError(f"{name} takes integers")
        return numbers.astype(np.int64 if self.is_whole else np.float64)


def reals(
    length: int = 1,
    low: float | None = None,
    high: float | None = None,
    *,
    public: bool = False,
    values: Sequence[float] | None = None,
) -> Input:
    """A vector of real numbers in [low, high], by default [−1, 1] or the range of ``values``. With ``public``, the
    server knows them. Raises ``UserError`` for invalid bounds.
    """
    return _input(length, (low, high), public, values, is_whole=False)


def integers(
    length: int = 1,
    low: int | None = None,
    high: int | None = None,
    *,
    public: bool = False,
    values: Sequence[int] | None = None,
) -> Input:
    """A vector of integers in [low, high], by default [0, 1] or the range of ``values``: computed exactly. With
    ``public``, the server knows them. Raises ``UserError`` for invalid bounds.
    """
    return _input(length, (low, high), public, values, is_whole=True)


def _input(
    length: int,
    given: tuple[float | None, float | None],
    is_public: bool,
    values: Sequence[float] | None,
    is_whole: bool,
) -> Input:
    numbers = (
        None if values is None else np.atleast_1d(np.asarray(values, np.int64 if is_whole else np.float64))
    )
    if numbers is not None:
        length = len(numbers)
    usual = (0.0 if is_whole else -1.0, 1.0) if numbers is None else (numbers.min(), numbers.max())
    bounds = [float(one if bound is None else bound) for bound, one in zip(given, usual, strict=True)]
    is_possible = np.isfinite(bounds).all() and bounds[0] <= bounds[1]
    if is_whole:
        is_possible = is_possible and all(bound.is_integer() for bound in bounds)
    if not is_possible:
        raise UserError(
            f"an input has finite bounds, the lower one first, not {bounds[0]:g} and {bounds[1]:g}"
        )
    if int(length) != length or not 1 <= length <= _LONGEST:
        raise UserError(f"an input has from 1 to {_LONGEST:,} values, not {length}")
    declared = Input(int(length), bounds[0], bounds[1], is_whole, is_public, numbers)
    return declared if numbers is None else replace(declared, values=declared.checked(numbers, "values"))


class ComputationOptions(msgspec.Struct, frozen=True):
    """The layout of a computation."""

    baby_steps: Annotated[
        int,
        msgspec.Meta(
            ge=0,
            le=1 << 16,
            description="rotations of a matrix product's vector that its sums share; 0: about as many as its sums",
            extra=NEWER,
        ),
    ] = 0


class Computation(Workload[Given, Numbers]):
    """A function of declared inputs as a workload. Calling it calls the function."""

    Options: ClassVar[type[msgspec.Struct]] = ComputationOptions
    function: Callable[..., Any]
    inputs: Mapping[str, Input]

    def __call__(self, *operands: Any, **named: Any) -> Any:
        """The function of arrays, or of expressions inside of another computation."""
        return type(self).function(
            *map(_plain, operands), **{name: _plain(item) for name, item in named.items()}
        )

    @property
    def line(self) -> str:
        """The place of the function, as ``mine.py:3``."""
        code = self.function.__code__
        return f"{Path(code.co_filename).name}:{code.co_firstlineno}"

    @property
    def _encrypted(self) -> dict[str, Input]:
        return {name: item for name, item in self.inputs.items() if not item.is_public}

    def _arranged(self, public: Arrays, scheme: Scheme) -> Arranged:
        """The graph with these values of public inputs, for a scheme; raises ``UserError`` with the line of a fault."""
        operands = {
            name: _operand(name, declared, public.get(name)) for name, declared in self.inputs.items()
        }
        returned = type(self).function(**operands)
        results = returned if isinstance(returned, (tuple, list)) else (returned,)
        fault = f"{self.line}: a result of {self.name} does not depend on encrypted values"
        if not all(isinstance(result, Expression) for result in results):
            raise UserError(fault)
        for result in results:
            if not is_bounded(result):
                raise UserError(
                    f"{result.place}: the bounds of these values exceed any number: narrow the inputs"
                )
        arrangement = arranged(results, has_polynomials=scheme != "bgv")  # for its sums: see _Growth
        if any(root.is_constant for root in arrangement.roots):
            raise UserError(fault)
        return arrangement

    @cached_property
    def _selections(self) -> Mapping[Scheme, Selection]:
        return {scheme: self._selection(scheme) for scheme in self.schemes}

    def _selection(self, scheme: Scheme) -> Selection:
        """The choice of parameters. It depends on declarations, not on the values of inputs."""
        public = {
            name: item.values
            for name, item in self.inputs.items()
            if item.is_public and item.values is not None
        }
        arrangement = self._arranged(public, scheme)
        lengths = {name: item.length for name, item in self._encrypted.items()}
        is_whole = scheme in EXACT_SCHEMES
        graph = Graph(arrangement, lengths, moves_values(arrangement.roots), is_whole)
        return Selection(self.name, graph, 0.0 if is_whole else self.tolerance)

    # --- What both parties and the suite ask -------------------------------------------------------------------------

    def parameters(self, scheme: Scheme) -> ParameterSpec:
        """The smallest secure ring whose chain has the levels, and the precision or range, of the function."""
        self.require_scheme(scheme)
        return self._selections[scheme].recommended(scheme)

    def roomy_parameters(self, scheme: Scheme) -> ParameterSpec:
        self.require_scheme(scheme)
        return self._selections[scheme].recommended(scheme, is_roomy=True)

    def choices(self, scheme: Scheme) -> Sequence[Choice]:
        """The recommended parameters, then other scales, the next larger ring, and other baby steps."""
        self.require_scheme(scheme)
        selection = self._selections[scheme]
        recommended, *others = selection.alternatives(scheme)
        layouts = [Choice({"baby_steps": steps}, recommended) for steps in selection.baby_steps(recommended)]
        return [*(Choice({}, spec) for spec in (recommended, *others)), *layouts]

    def decisions(self, scheme: Scheme) -> Sequence[Decision]:
        """Scheme, ring, chain, scale or plaintext modulus, levels, keys and packing."""
        return self._selections[scheme].decisions(scheme)

    def input_ciphertexts(self, stage: str, parameters: Parameters) -> int:
        return sum(packing.parts for packing in self._packings(parameters).values())

    @property
    def _roots(self) -> Sequence[Expression]:
        return self._selections[self.schemes[0]].graph.arrangement.roots

    def _width(self, parameters: Parameters) -> int:
        return width_of(parameters, self._selections[parameters.spec.scheme].graph.is_moving)

    def _packings(self, parameters: Parameters) -> dict[str, Packing]:
        width = self._width(parameters)
        return {name: Packing.of(item.length, width) for name, item in self._encrypted.items()}

    # --- The client --------------------------------------------------------------------------------------------------

    def input(self, seed: int, data: Any) -> Given:
        """All inputs, uniform between their bounds unless they are given."""
        generator = np.random.default_rng(seed)
        return {name: declared.made(generator) for name, declared in self.inputs.items()}

    def given_input(self, values: Sequence[float]) -> Given:
        """The encrypted inputs one after the other; raises ``UserError`` for other numbers than they declare."""
        encrypted = self._encrypted
        count = sum(item.length for item in encrypted.values())
        if len(values) != count:
            names = ", ".join(f"{item.length} of {name}" for name, item in encrypted.items())
            raise UserError(f"{self.name} takes {count} values ({names}), not {len(values)}")
        given, start = dict(self.input(0, None)), 0
        for name, item in encrypted.items():
            given[name] = item.checked(values[start : start + item.length], name)
            start += item.length
        return given

    def vectors(self, stage: str, given: Given, parameters: Parameters) -> list[Vector]:
        """Each encrypted input, packed."""
        width = self._width(parameters)
        return [
            vector
            for name, packing in self._packings(parameters).items()
            for vector in packing.vectors(given[name], width, parameters)
        ]

    def plaintext_bytes(self, stage: str, given: Given, parameters: Parameters) -> int:
        return sum(8 * item.length for item in self._encrypted.values())

    def public(self, stage: str, given: Given, parameters: Parameters) -> Arrays:
        """The public inputs."""
        return {name: given[name].astype(np.float64) for name, item in self.inputs.items() if item.is_public}

    def output(self, outputs: Sequence[Vector], given: Given, parameters: Parameters) -> Numbers:
        """The results one after the other."""
        width, values, start = self._width(parameters), [], 0
        for root in self._roots:
            packing = Packing.of(root.length, width)
            part = packing.unpacked(outputs[start : start + packing.parts])
            values.append(centred(part, parameters) if parameters.plain_modulus else part)
            start += packing.parts
        return np.concatenate(values)

    def reference(self, given: Given) -> Numbers:
        """The function on arrays."""
        returned = self(**given)
        results = returned if isinstance(returned, (tuple, list)) else (returned,)
        roots = self._roots
        return np.concatenate(
            [np.broadcast_to(np.ravel(item), root.length) for item, root in zip(results, roots, strict=True)]
        )

    # --- The server --------------------------------------------------------------------------------------------------

    def circuit(
        self, stage: str, evaluator: Evaluator, inputs: Handles, state: Handles, public: Arrays
    ) -> list[Handle]:
        """The graph, lowered to operations."""
        parts, start = {}, 0
        for name, packing in self._packings(evaluator.parameters).items():
            parts[name] = inputs[start : start + packing.parts]
            start += packing.parts
        scheme = evaluator.parameters.spec.scheme
        arrangement = self._arranged(public, scheme) if public else self._selections[scheme].graph.arrangement
        width: int = self._width(evaluator.parameters)
        return lower(evaluator, arrangement, parts, width, self.options.baby_steps)


def _plain(operand: Any) -> Any:
    return (
        operand
        if isinstance(operand, Expression) or np.ndim(operand) == 0
        else np.asarray(operand).view(Plain)
    )


def _operand(name: str, declared: Input, values: Numbers | None) -> Expression:
    """An input as an expression. A public one without values has some that no other number equals."""
    low, high = np.full(1, declared.low), np.full(1, declared.high)
    if not declared.is_public:
        return Expression("input", (), declared.length, low, high, name, declared.is_whole, name)
    if values is None:
        values = declared.made(np.random.default_rng(0))
    kind = np.int64 if declared.is_whole else np.float64
    return constant(values.astype(kind), (declared.low, declared.high), declared.values is not None)


def computation(tolerance: float = 1e-3, **inputs: Input) -> Callable[[Callable[..., Any]], Computation]:
    """Make a workload of a function whose arguments are these inputs; see the module.

    ``tolerance`` is the largest error of a correct real result. Raises ``UserError`` for a function that does not take
    the declared inputs, and for integers next to reals.
    """

    def made(function: Callable[..., Any]) -> Computation:
        where = f"{Path(function.__code__.co_filename).name}:{function.__code__.co_firstlineno}"
        fault = _fault(function, inputs, tolerance)
        if fault is not None:
            raise UserError(f"{where}: {fault}")
        is_whole = next(iter(inputs.values())).is_whole
        sentence = (inspect.getdoc(function) or "").partition("\n")[0].rstrip(".")
        members = {
            "__module__": function.__module__,
            "__doc__": function.__doc__,
            "name": function.__name__,
            "title": sentence or f"{function.__name__}, a function of {', '.join(inputs)}",
            "schemes": EXACT_SCHEMES if is_whole else ("ckks",),
            "tolerance": tolerance,
            "function": staticmethod(function),
            "inputs": dict(inputs),
        }
        kind = type(function.__name__, (Computation,), members)
        one: Computation = kind()
        return one

    return made


def _fault(function: Callable[..., Any], inputs: Mapping[str, Input], tolerance: float) -> str | None:
    """Why a function is no computation of these inputs; ``None`` where it is one."""
    for name, item in inputs.items():
        if not isinstance(item, Input):
            return f"{name} is not declared: write {name}=reals(4096, low=-1, high=1), or integers(…)"
    if all(item.is_public for item in inputs.values()):
        return "no input is encrypted: declare one, such as x=reals(4096, low=-1, high=1)"
    if len({item.is_whole for item in inputs.values()}) > 1:
        return "integers are exact and reals approximate: declare all inputs as one of them"
    if not tolerance > 0:
        return f"a tolerance is above 0, not {tolerance}"
    try:
        inspect.signature(function).bind(**inputs)
    except TypeError as error:
        return f"{function.__name__} does not take the declared inputs: {error}"
    return None
