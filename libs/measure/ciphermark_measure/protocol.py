"""The protocol between executor and worker: one JSON line per message, versioned.

The executor sends requests; the worker answers each with one reply. It sends ``Hello`` first, unasked.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ciphermark_contract.keys import KeyRequest
from ciphermark_core.model import LibraryInfo, Outcome, Parameters, ParameterSpec, Sample, Status, Trial

VERSION = 5


class Prepare(msgspec.Struct, tag="prepare", frozen=True):
    """Load the library, resolve the parameters, make the keys."""

    variant: str
    parameters: ParameterSpec
    keys: KeyRequest


class Open(msgspec.Struct, tag="open", frozen=True):
    """Begin a trial. ``baseline_ns`` is the lowest reference-kernel baseline found so far by the run's workers."""

    trial: Trial
    baseline_ns: float | None = None


class Turn(msgspec.Struct, tag="turn", frozen=True):
    """Take one sample of every phase of the open trial."""


class Close(msgspec.Struct, tag="close", frozen=True):
    """End the open trial."""


class Profile(msgspec.Struct, tag="profile", frozen=True):
    """Repeat the loops of the trial that was closed last with the probes that it asks for."""


class Branch(msgspec.Struct, tag="branch", frozen=True):
    """Load the library and nothing else, fork, and prepare in the fork, which answers from here on: see ``Join``."""

    preparation: Prepare


class Memory(msgspec.Struct, tag="memory", frozen=True):
    """Execute the phases of a trial once each and report their peaks. Only after ``Branch``."""

    trial: Trial


class Join(msgspec.Struct, tag="join", frozen=True):
    """End the fork; the worker, unchanged by it, answers again. A worker that could not fork ends itself."""


class Footprint(msgspec.Struct, tag="footprint", frozen=True):
    """Execute a chain once, with the key owner in a separate process, and report the peaks.

    The first and only request to a worker.
    """

    trial: Trial
    keys: KeyRequest


Request = Prepare | Open | Turn | Close | Profile | Branch | Memory | Join | Footprint


class Hello(msgspec.Struct, tag="hello", frozen=True):
    """The worker has started. ``monotonic_ns`` lets the executor check that both read one clock."""

    version: int
    python: str
    monotonic_ns: int
    is_pinned: bool


class Prepared(msgspec.Struct, tag="prepared", frozen=True):
    """Keys are made. ``facts``: seconds of key generation, cost of the empty loop, clock resolution."""

    library: LibraryInfo
    parameters: Parameters
    facts: dict[str, float]


class Branched(msgspec.Struct, tag="branched", frozen=True):
    """A fork has made its keys, with these peaks.

    ``forks``: whether it forks again for each trial, so that all trials begin in the same state. Otherwise its memory
    includes leftovers of earlier trials.
    """

    samples: tuple[Sample, ...]
    forks: bool


class Joined(msgspec.Struct, tag="joined", frozen=True):
    """The fork has ended."""


class Refused(msgspec.Struct, tag="refused", frozen=True):
    """A request failed with this status. The worker is ready for the next one.

    ``cause`` is the name of the exception's class, where there was one.
    """

    status: Status
    error: str
    cause: str | None = None


class Turned(msgspec.Struct, tag="turned", frozen=True):
    """A turn is over; ``is_done`` when the trial needs no more turns."""

    is_done: bool


class Closed(msgspec.Struct, tag="closed", frozen=True):
    """The findings of a trial. ``monotonic_ns`` as in ``Hello``."""

    outcome: Outcome
    monotonic_ns: int


class Profiled(msgspec.Struct, tag="profiled", frozen=True):
    """The values of probes; for each probe that has none, or not all, the reason; and call stacks by stage."""

    samples: tuple[Sample, ...] = ()
    unmeasured: dict[str, str] = {}
    stacks: dict[str, str] = {}


class Peaks(msgspec.Struct, tag="peaks", frozen=True):
    """Peak memory of each phase."""

    samples: tuple[Sample, ...] = ()


Reply = Hello | Prepared | Refused | Turned | Closed | Branched | Joined | Profiled | Peaks


def plain_text(reply: Refused) -> str:
    """The text of one of our own refusals, without the class and place that a library's failure has. Pure."""
    text, _, _ = reply.error.removeprefix(f"{reply.cause}: ").rpartition(" (in ")
    return text or reply.error


# Each decodes one line, and raises ``ValueError`` for anything else.
read_request: Callable[[bytes], Request] = msgspec.json.Decoder(Request).decode
read_reply: Callable[[bytes], Reply] = msgspec.json.Decoder(Reply).decode
