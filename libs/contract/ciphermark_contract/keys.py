"""Which evaluation keys an operation needs, and a circuit of many."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KeyRequest:
    """Which evaluation keys to make.

    ``relinearization``: from s² to s. ``rotations``: by these steps, > 0 to the left. ``galois``: of the automorphisms
    X → X^k for these odd k, taken modulo 2N: −1 swaps the two rows of slots (bfv, bgv) or conjugates (ckks).
    ``switching``: to a second secret key, which the owner makes and keeps too. ``bootstrapping``: whatever else the
    library's bootstrapping takes.
    """

    relinearization: bool = True
    rotations: tuple[int, ...] = ()
    galois: tuple[int, ...] = ()
    switching: bool = False
    bootstrapping: bool = False

    def __or__(self, other: KeyRequest) -> KeyRequest:
        """The keys of both; steps and exponents in ascending order, each once."""
        return KeyRequest(
            relinearization=self.relinearization or other.relinearization,
            rotations=tuple(sorted({*self.rotations, *other.rotations})),
            galois=tuple(sorted({*self.galois, *other.galois})),
            switching=self.switching or other.switching,
            bootstrapping=self.bootstrapping or other.bootstrapping,
        )

    def __bool__(self) -> bool:
        """Whether any key is asked for."""
        return self != NO_KEYS

    def has(self, wanted: KeyRequest) -> bool:
        """Whether these keys are enough for what needs ``wanted``; a rotation by 0 steps needs none."""
        return (
            self.relinearization >= wanted.relinearization
            and {*wanted.rotations} - {0} <= {*self.rotations}
            and {*wanted.galois} <= {*self.galois}
            and self.switching >= wanted.switching
            and self.bootstrapping >= wanted.bootstrapping
        )

    def of_kinds(self, able: KeyRequest) -> KeyRequest:
        """Of these keys those of the kinds that ``able`` has any of."""
        return KeyRequest(
            relinearization=self.relinearization and able.relinearization,
            rotations=self.rotations if able.rotations else (),
            galois=self.galois if able.galois else (),
            switching=self.switching and able.switching,
            bootstrapping=self.bootstrapping and able.bootstrapping,
        )


NO_KEYS = KeyRequest(relinearization=False)
