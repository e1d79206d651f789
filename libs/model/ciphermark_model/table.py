"""The cost table of one variant on one host: measured times of operations, and a digest that names its content."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from operator import attrgetter
from typing import Literal

import msgspec

from ciphermark_contract.operations import OPERATIONS
from ciphermark_core.model import Scheme

Residency = Literal["cached", "streamed"]
# Larger primes take another code path in HEXL, and in the adapters' own sums.
NARROW_BITS = 50


@dataclass(frozen=True, slots=True)
class Key:
    """Names one cost: an operation, or a step of a party such as ``encrypt``, with everything that its time depends on.

    ``primes`` are the data primes in use, ``digits`` and ``special`` those of key switching, 0 without it. ``wide``
    counts the primes above 50 bits among all that the operation uses, 0 where their size does not matter. ``count`` is
    the number of handles of an operation on several, the number of results of one with several, or of ``decrypt`` the
    number of polynomials.
    """

    operation: str
    scheme: Scheme
    ring_dimension: int
    primes: int
    digits: int = 0
    special: int = 0
    wide: int = 0
    count: int = 1
    threads: int = 1
    residency: Residency = "cached"

    @property
    def used_primes(self) -> int:
        """All primes that the operation uses."""
        return self.primes + self.special

    @property
    def words(self) -> str:
        """The key in a phrase for the user."""
        large = f", {self.wide} above {NARROW_BITS} bits" if self.wide else ""
        several = f" of {self.count}" if self.count > 1 else ""
        threads = f", {self.threads} threads" if self.threads > 1 else ""
        return (
            f"{self.operation}{several} ({self.scheme.upper()}, N = {self.ring_dimension}, {self.primes} primes"
            f"{large}{threads})"
        )


@dataclass(frozen=True, slots=True)
class Cost:
    """The median of ``n`` samples in seconds, with its 95% interval. ``is_older``: an earlier build of the library was
    measured.
    """

    median: float
    low: float
    high: float
    n: int = 1
    is_older: bool = False

    def scaled(self, factor: float) -> Cost:
        """The cost of ``factor`` times the work."""
        return Cost(self.median * factor, self.low * factor, self.high * factor, self.n, self.is_older)


# The values of all fields; ``astuple`` copies each of them.
_KEY, _COST = (attrgetter(*(item.name for item in fields(kind))) for kind in (Key, Cost))


@dataclass(frozen=True)
class CostTable:
    """Costs of a ``variant`` on the host with this fingerprint, measured with one ``build`` of the library.

    ``sees_prime_sizes``: the build has code for small primes. ``caches`` are bytes by level. ``residuals`` are the
    logarithms of measured over predicted times of earlier runs on this host. ``remarks`` state that costs are of
    another host; ``widening`` is then added to the relative half-width of every prediction.
    """

    host: str
    variant: str
    build: str
    entries: Mapping[Key, Cost]
    caches: Mapping[str, int] = field(default_factory=dict)
    sees_prime_sizes: bool = False
    residuals: tuple[float, ...] = ()
    remarks: tuple[str, ...] = ()
    widening: float = 0.0

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all that predicted values depend on, in hexadecimal digits; intervals also depend on residuals."""
        rows = sorted((*_KEY(key), *_COST(cost)) for key, cost in self.entries.items())
        content = (self.host, self.variant, self.build, sorted(self.caches.items()), rows)
        return hashlib.sha256(msgspec.json.encode(content)).hexdigest()

    @property
    def last_cache(self) -> int:
        """Bytes of the largest cache; 0 if unknown."""
        return max(self.caches.values(), default=0)

    @property
    def near_cache(self) -> int:
        """Bytes of the largest cache below the last one; 0 if unknown."""
        return max((size for size in self.caches.values() if size < self.last_cache), default=0)

    def key(  # noqa: PLR0913, PLR0917 - what a cost depends on
        self,
        operation: str,
        scheme: Scheme,
        ring_dimension: int,
        data_bits: Sequence[int],
        special_bits: Sequence[int] = (),
        digits: int = 0,
        *,
        count: int = 1,
        threads: int = 1,
        residency: Residency = "cached",
    ) -> Key:
        """The key of a cost. ``data_bits`` are the sizes of the data primes in use; special primes and digits count
        only for an operation that switches keys.
        """
        switches = switches_keys(operation)
        used = [*data_bits, *special_bits] if switches else data_bits
        wide = sum(bits > NARROW_BITS for bits in used) if self._sees_sizes(operation) else 0
        special = len(special_bits) if switches else 0
        digits = digits if switches else 0
        return Key(
            operation,
            scheme,
            ring_dimension,
            len(data_bits),
            digits,
            special,
            wide,
            count,
            threads,
            residency,
        )

    def _sees_sizes(self, operation: str) -> bool:
        row = OPERATIONS.get(operation)
        return row is not None and (self.sees_prime_sizes or (row.takes_several and row.is_multiplication))


@cache
def switches_keys(operation: str) -> bool:
    """Whether an operation uses evaluation keys."""
    row = OPERATIONS.get(operation)
    return row is not None and bool(row.calls()[0].keys)
