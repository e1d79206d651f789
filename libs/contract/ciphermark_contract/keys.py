"""Evaluation keys that operations and circuits need: a request for each kind of key, as data.

A kind of key is a class here and a field of :class:`KeyRequest`. It defines the union of two requests (``|``), and
whether the keys of one request suffice for another (``has``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from ciphermark_core.model import BootstrappingParameters


@dataclass(frozen=True, slots=True)
class Relinearization:
    """The key from s² to s."""

    def __or__(self, _: Relinearization) -> Relinearization:
        return self

    def has(self, _: Relinearization) -> bool:
        """There is one such key."""
        return True


@dataclass(frozen=True, slots=True)
class Rotations:
    """A key for each of these steps, > 0 to the left; none is 0."""

    steps: tuple[int, ...]

    def __or__(self, other: Rotations) -> Rotations:
        return Rotations(tuple(sorted({*self.steps, *other.steps})))

    def has(self, wanted: Rotations) -> bool:
        """Whether every step has its key."""
        return {*wanted.steps} <= {*self.steps}


@dataclass(frozen=True, slots=True)
class Automorphisms:
    """A key for X → X^k for each of these odd k, taken modulo 2N: −1 swaps the two rows of slots (bfv, bgv) or
    conjugates (ckks)."""

    elements: tuple[int, ...]

    def __or__(self, other: Automorphisms) -> Automorphisms:
        return Automorphisms(tuple(sorted({*self.elements, *other.elements})))

    def has(self, wanted: Automorphisms) -> bool:
        """Whether every element has its key."""
        return {*wanted.elements} <= {*self.elements}


@dataclass(frozen=True, slots=True)
class Switching:
    """The key to a second secret key, which the owner also generates and keeps."""

    def __or__(self, _: Switching) -> Switching:
        return self

    def has(self, _: Switching) -> bool:
        """There is one such key."""
        return True


@dataclass(frozen=True, slots=True)
class Bootstrapping:
    """All keys of bootstrapping with these parameters; ``None`` means those of the parameter set."""

    parameters: BootstrappingParameters | None = None

    def __or__(self, other: Bootstrapping) -> Bootstrapping:
        """Return the union; raises ``ValueError`` where the two differ: an owner has the keys of one bootstrapping."""
        if self.parameters and other.parameters and self.parameters != other.parameters:
            raise ValueError("bootstrapping keys for two parameter sets cannot be generated together")
        return self if self.parameters else other

    def has(self, wanted: Bootstrapping) -> bool:
        """Whether the parameters are equal, or ``wanted`` has none."""
        return wanted.parameters in (None, self.parameters)


@dataclass(frozen=True, slots=True)
class KeyRequest:
    """The evaluation keys to generate: a request for each kind, ``None`` for no key. :meth:`of` takes plain values."""

    relinearization: Relinearization | None = None
    rotations: Rotations | None = None
    automorphisms: Automorphisms | None = None
    switching: Switching | None = None
    bootstrapping: Bootstrapping | None = None

    @classmethod
    def of(
        cls,
        relinearization: bool = False,
        rotations: Iterable[int] = (),
        automorphisms: Iterable[int] = (),
        switching: bool = False,
        bootstrapping: BootstrappingParameters | bool = False,
    ) -> KeyRequest:
        """Build a request from plain values; steps and elements are stored in ascending order, each once.

        A rotation by 0 steps needs no key. ``True`` for ``bootstrapping`` takes the parameter set's parameters.
        """
        steps, elements = tuple(sorted({*rotations} - {0})), tuple(sorted({*automorphisms}))
        own = bootstrapping if isinstance(bootstrapping, BootstrappingParameters) else None
        return cls(
            Relinearization() if relinearization else None,
            Rotations(steps) if steps else None,
            Automorphisms(elements) if elements else None,
            Switching() if switching else None,
            Bootstrapping(own) if bootstrapping else None,
        )

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps that have a rotation key."""
        return self.rotations.steps if self.rotations else ()

    @property
    def elements(self) -> tuple[int, ...]:
        """The k of X → X^k that have a key, other than those of rotations."""
        return self.automorphisms.elements if self.automorphisms else ()

    @property
    def count(self) -> int:
        """The number of keys for key switching, without those of bootstrapping, which only a library knows."""
        return len(self.steps) + len(self.elements) + bool(self.relinearization) + bool(self.switching)

    def __or__(self, other: KeyRequest) -> KeyRequest:
        """The union of both requests."""
        pairs = zip(self._kinds, other._kinds, strict=True)
        return KeyRequest(*(mine | yours if mine and yours else mine or yours for mine, yours in pairs))

    def __bool__(self) -> bool:
        """Whether any key is requested."""
        return any(kind is not None for kind in self._kinds)

    def has(self, wanted: KeyRequest) -> bool:
        """Whether these keys include ``wanted``."""
        pairs = zip(self._kinds, wanted._kinds, strict=True)
        return all(other is None or (own is not None and own.has(other)) for own, other in pairs)

    def of_kinds(self, able: KeyRequest) -> KeyRequest:
        """The part of this request whose kinds occur in ``able``."""
        pairs = zip(self._kinds, able._kinds, strict=True)
        return KeyRequest(*(None if other is None else own for own, other in pairs))

    @property
    def _kinds(self) -> tuple[Any, ...]:
        return tuple(getattr(self, kind.name) for kind in fields(self))


NO_KEYS = KeyRequest()
