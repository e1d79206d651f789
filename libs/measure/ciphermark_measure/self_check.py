"""``python -m ciphermark_measure.self_check VARIANT``: whether a build computes correctly, and its description.

A small part of the contract in every scheme of the variant: encrypt, add, multiply, relinearize, decrypt, with bytes
between client and server as in a run. Prints its ``LibraryInfo`` as JSON; a failure ends with exit code 3 and one line
on standard error.
"""

from __future__ import annotations

import sys

from ciphermark_contract import checking
from ciphermark_contract.declaration import Declaration
from ciphermark_contract.keys import KeyRequest
from ciphermark_contract.operations import read
from ciphermark_core.model import Case, LibraryInfo, ParameterSpec, Scheme
from ciphermark_measure import confinement, operands
from ciphermark_measure.session import Session, library_of, prepare

_SEED = 1
_OPERATIONS = ("add", "mul", "relinearize", "rotate(1)")
_FAILED = 3
_SPECS: dict[Scheme, ParameterSpec] = {
    "bfv": ParameterSpec("bfv", 4096, (36, 36, 37), 65537, security=0),
    "bgv": ParameterSpec("bgv", 4096, (36, 36, 37), 65537, security=0),
    "ckks": ParameterSpec("ckks", 4096, (60, 40, 40, 60), scale_bits=40, security=0),
}


class CheckError(Exception):
    """A build that fails a check."""


def checked(variant: str) -> LibraryInfo:
    """Check every scheme of a variant. Raises :class:`CheckError` and any error of the library."""
    has_scheme = False
    for scheme, spec in _SPECS.items():
        session = _session(variant, scheme, spec)
        if session is not None:
            has_scheme = True
            for operation in _possible(session.declaration, scheme):
                _require_right(session, variant, operation)
    if not has_scheme:
        raise CheckError(f"{variant} has no scheme that could be checked")
    info = library_of(variant)
    if info.is_debug:
        raise CheckError(f"{info.library} is a debug build: its times mean nothing")
    return info


def _session(variant: str, scheme: Scheme, spec: ParameterSpec) -> Session | None:
    from ciphermark_adapters import registry

    if scheme not in registry.declaration(variant).schemes:
        return None
    return prepare(variant, spec, KeyRequest.of(True, (1,)))


def _possible(declared: Declaration, scheme: Scheme) -> list[str]:
    return [item for item in _OPERATIONS if read(item).name in declared.operations[scheme]]


def _require_right(session: Session, variant: str, operation: str) -> None:
    spec = session.parameters.spec
    case = Case(variant, "arithmetic", operation, spec, session.parameters.slots, "random")
    operand_set, call = operands.build(session, case, _SEED, 0), read(operation)
    bound = session.evaluator.bind(call.name, operand_set.rows)
    bound.run(1)
    results = session.decrypted(operands.revealed(session, case, bound.results()))
    accuracy = checking.accuracy(
        results, operand_set.expected, checking.tolerance(session.parameters, operation=call.operation)
    )
    if not checking.is_right(accuracy):
        raise CheckError(
            f"{operation} in {spec.scheme} has incorrect results in {accuracy.incorrect_slots} slots"
        )


def main() -> None:
    """Check and print the result."""
    replies = confinement.own_output()
    try:
        confinement.send(replies, checked(sys.argv[1]))
    except Exception as error:  # whatever a library throws
        print(f"{type(error).__name__}: {error}".replace("\n", " "), file=sys.stderr)
        sys.exit(_FAILED)


if __name__ == "__main__":
    main()
