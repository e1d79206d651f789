"""The work of operations on residue polynomials, in passes of N words through a unit.

Source of the formulas: Samardzic et al., "CraterLake: a hardware accelerator for efficient unbounded computation on
encrypted data", ISCA 2022, Table 1, extended to any number of digits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from ciphermark_contract.operations import LOWERING
from ciphermark_core.model import Scheme
from ciphermark_model.machines.machine import Switching


class Passes(NamedTuple):
    """Passes of N words: number-theoretic transforms, residues out of base conversion, its multiply-accumulates,
    products, sums, automorphisms.
    """

    ntt: float = 0.0
    converted: float = 0.0
    accumulated: float = 0.0
    multiply: float = 0.0
    add: float = 0.0
    automorphism: float = 0.0

    def plus(self, *others: Passes) -> Passes:
        """The sum of this work and others'."""
        return Passes(*map(sum, zip(self, *others, strict=True)))

    def times(self, factor: float) -> Passes:
        """The work ``factor`` times."""
        return Passes(*(factor * value for value in self))


@dataclass(frozen=True, slots=True)
class KeySwitch:
    """One key switching: ``shared`` is the part that hoisted rotations have in common, ``own`` the rest. ``hint`` is
    the size of the whole hint, ``scratch`` that of intermediate results, in residues.
    """

    shared: Passes
    own: Passes
    hint: float
    scratch: float

    @property
    def whole(self) -> Passes:
        """Both parts."""
        return self.shared.plus(self.own)


def key_switch(residues: int, switching: Switching) -> KeySwitch:
    """Key switching of a polynomial of L residues.

    With d digits and α special residues: (d + 2)(L + α) transforms, d·L + 2L residues out of base conversion,
    2d(L + α) products, 2(d − 1)(L + α) + 2L sums. Digits have α residues, the last one those that are left. The
    standard key switching takes L² transforms, and 2L² products and sums.
    """
    size, digits, special = residues, switching.digits, switching.special
    if not special:
        whole = Passes(ntt=size**2, multiply=2 * size**2, add=2 * size**2)
        return KeySwitch(
            Passes(ntt=size**2 - size), whole.plus(Passes(ntt=size - size**2)), 2 * size**2, 2 * size
        )
    extended = size + special
    last = size - (digits - 1) * special
    raised = (digits - 1) * special * (extended - special) + last * (extended - last)
    shared = Passes(ntt=digits * extended - size, converted=digits * size, accumulated=raised)
    own = Passes(
        ntt=2 * extended + size,
        converted=2 * size,
        accumulated=2 * special * size,
        multiply=2 * digits * extended,
        add=2 * (digits - 1) * extended + 2 * size,
    )
    return KeySwitch(shared, own, 2 * digits * extended, digits * extended)


@dataclass(frozen=True, slots=True)
class Site:
    """What the work of a node depends on: residues of operands and results, polynomials of the ciphertexts that it
    reads and of its results, and its key switching.
    """

    residues: int
    after: int
    polynomials: tuple[int, ...]
    results: tuple[int, ...]
    switch: KeySwitch

    @property
    def total(self) -> int:
        """Residues of all ciphertexts that it reads."""
        return self.residues * sum(self.polynomials)


def _add(site: Site) -> Passes:
    """Sums of several ciphertexts: one less than there are."""
    return Passes(add=site.total - site.residues * max(site.polynomials))


def _per_residue(site: Site) -> Passes:
    return Passes(add=site.total)


def _add_plain(site: Site) -> Passes:
    return Passes(add=site.residues)


def _mul_plain(site: Site) -> Passes:
    return Passes(multiply=site.total)


def _inner_product(site: Site) -> Passes:
    return Passes(multiply=site.total, add=site.total - site.residues * site.results[0])


def _mul(site: Site) -> Passes:
    """A product of polynomials in NTT form; a square has equal operands, and takes no less."""
    left, right = (*site.polynomials, site.polynomials[0])[:2]
    return Passes(
        multiply=left * right * site.residues, add=(left * right - (left + right - 1)) * site.residues
    )


def _relinearize(site: Site) -> Passes:
    extra = max(1, site.polynomials[0] - 2)
    return site.switch.whole.times(extra).plus(Passes(add=2 * site.residues * extra))


def _turn(site: Site) -> Passes:
    return site.switch.whole.plus(Passes(add=site.residues, automorphism=2 * site.residues))


def _turn_hoisted(site: Site) -> Passes:
    each = site.switch.own.plus(Passes(add=site.residues, automorphism=2 * site.residues))
    return site.switch.shared.plus(each.times(len(site.results)))


def _rescale(site: Site) -> Passes:
    """The last residues brought to the others, of each polynomial, and taken off."""
    share = sum(site.polynomials) / 2
    rest = 2.0 * site.after
    return Passes(ntt=2.0 * site.residues, converted=rest, multiply=rest, add=rest).times(share)


def _mul_full(site: Site) -> Passes:
    product = _mul(site).plus(site.switch.whole, Passes(add=2 * site.residues))
    return product.plus(_rescale(_pair(site))) if site.after < site.residues else product


def _pair(site: Site) -> Site:
    return Site(site.residues, site.after, (2,), (2,), site.switch)


def _nothing(_: Site) -> Passes:
    """Residues are dropped, or a form is left that machines keep."""
    return Passes()


def _mul_bfv(site: Site) -> Passes:
    """A product in BFV: operands and results pass through a second basis of L + 1 residues, in which the product is
    scaled by t/Q (Halevi, Polyakov and Shoup, CT-RSA 2019). Not in CraterLake's publication.
    """
    size, other = site.residues, site.residues + 1
    left, right = (*site.polynomials, site.polynomials[0])[:2]
    operands, results = left + right, left + right - 1
    both = size + other
    extended = Passes(ntt=both, converted=other, accumulated=size * other).times(operands)
    scaled = Passes(ntt=both + size, converted=both, accumulated=2 * size * other).times(results)
    products = Passes(multiply=left * right * both, add=(left * right - results) * both)
    return extended.plus(products, scaled)


def _mul_full_bfv(site: Site) -> Passes:
    return _mul_bfv(site).plus(site.switch.whole, Passes(add=2 * site.residues))


def raised(site: Site) -> Passes:
    """A ciphertext of few residues raised to many: the start of bootstrapping."""
    return Passes(ntt=2 * site.after, converted=2 * (site.after - site.residues))


Work: TypeAlias = Callable[[Site], Passes]


def work_of(scheme: Scheme, operation: str) -> Work | None:
    """The work of an operation in a scheme; ``None`` for one that cannot be predicted."""
    return _OF_SCHEMES[scheme].get(operation) or WORK.get(operation)


# Operations of all schemes; those that are missing cannot be predicted.
WORK: Mapping[str, Work] = {
    "negate": _per_residue,
    "add": _add,
    "sub": _add,
    "add_many": _add,
    "add_plain": _add_plain,
    "sub_plain": _add_plain,
    "add_plain_ntt": _add_plain,
    "add_scalar": _add_plain,
    "mul_plain": _mul_plain,
    "mul_plain_ntt": _mul_plain,
    "mul_scalar": _mul_plain,
    "mul_monomial": _mul_plain,
    "weighted_sum": _inner_product,
    "multiply_accumulate": _inner_product,
    "mul": _mul,
    "square": _mul,
    "mul_full": _mul_full,
    "relinearize": _relinearize,
    "rescale": _rescale,
    "rotate": _turn,
    "rotate_columns": _turn,
    "conjugate": _turn,
    "substitute": _turn,
    "rotate_hoisted": _turn_hoisted,
    "key_switch": _relinearize,
}
# Lowering a ciphertext drops residues in CKKS, and rescales in other schemes.
_OF_SCHEMES: Mapping[Scheme, Mapping[str, Work]] = {
    "ckks": {LOWERING: _nothing},
    "bgv": {LOWERING: _rescale},
    "bfv": {
        LOWERING: _rescale,
        **dict.fromkeys(("transform_ciphertext", "transform_back"), _nothing),
        "mul": _mul_bfv,
        "square": _mul_bfv,
        "mul_full": _mul_full_bfv,
    },
}
