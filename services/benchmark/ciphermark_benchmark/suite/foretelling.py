"""What a library would refuse, found out without loading it: parameters that a request leads to nowhere, and operations
that the parameters have no keys for. Pure.

A library that takes primes of the sizes asked for makes of a request what ``cleartext`` makes of it. Of one that
chooses them by itself only what it declares is known, and where the primes for data alone are too many; the rest is for
a run to tell.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ciphermark_adapters import registry
from ciphermark_contract.declaration import Declaration
from ciphermark_contract.operations import OPERATIONS
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import Case, Parameters, ParameterSpec
from ciphermark_measure.parameter_selection import reason_against_keys, resolved

_DEEPEST = 256  # chains for more take their time to make, and are secure at no ring dimension


class _OnlyTheLibraryKnowsError(Exception):
    """The request leaves to the library what it does not declare."""


class Foretelling:
    """Asks the same of a library only once, and of libraries that declare the same."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Parameters | str | None] = {}

    def reason_against(self, case: Case, declared: Declaration) -> str | None:
        """Why a case cannot be executed; ``None`` where nothing is known against it."""
        spec = case.parameters
        key = (spec, declared.refusal, declared.default_chain, declared.chooses_primes)
        if key not in self._known:
            self._known[key] = _foretold(spec, declared)
        known = self._known[key]
        if isinstance(known, Parameters):
            is_operation = case.operation.partition("(")[0] in OPERATIONS
            return reason_against_keys(case.operation, known) if is_operation else None
        return known


def _foretold(spec: ParameterSpec, declared: Declaration) -> Parameters | str | None:
    """The parameters, or why there are none; ``None`` where only the library knows."""
    reason = declared.refusal(spec)
    if reason is not None or (spec.depth or 0) > _DEEPEST:
        return reason
    try:
        return resolved(_AsAsked(declared), spec)
    except Unsupported as error:
        return str(error)
    except _OnlyTheLibraryKnowsError:
        return None


@dataclass(frozen=True, slots=True)
class _AsAsked:
    """Resolves as a library does that takes the largest primes of the sizes asked for; of others, what they declare."""

    declared: Declaration

    def resolve(self, spec: ParameterSpec) -> Parameters:
        """See :class:`ciphermark_measure.parameter_selection.Resolver`."""
        reason = self.declared.refusal(spec)
        if reason is not None:
            raise Unsupported(reason)
        if self.declared.chooses_primes:
            raise _OnlyTheLibraryKnowsError
        sizes = spec.modulus_bits
        if sizes is None and spec.scheme != "ckks":
            sizes = self.declared.default_chain(spec)
            if sizes is None:
                raise _OnlyTheLibraryKnowsError
        return registry.load("cleartext").resolve(replace(spec, modulus_bits=sizes))
