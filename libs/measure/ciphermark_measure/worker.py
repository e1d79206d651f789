"""The worker: a fresh process that serves the trials of one variant with one set of keys.

``python -m ciphermark_measure.worker --cpus 1 --memory-mb 8192``. Requests arrive on standard input. Replies go to the
original standard output; anything a library prints goes to standard error.
"""

from __future__ import annotations

import argparse
import platform
import sys

from ciphermark_core import loading
from ciphermark_measure import confinement, protocol


def main() -> None:
    """Confine the process, load the named library, greet, and serve until standard input ends."""
    parser = argparse.ArgumentParser()
    confinement.add_options(parser)
    parser.add_argument("--variant", help="whose library to load before greeting")
    arguments = parser.parse_args()
    replies = confinement.own_output()
    confinement.confine(arguments.memory_mb)
    is_pinned = confinement.pin(arguments.cpus)
    with loading.undisturbed():  # numpy and the rest load confined
        from ciphermark_measure.service import Service

        service = Service()
        if arguments.variant is not None:
            service.load(arguments.variant)
    now_ns = service.clock.now_ns()
    hello = protocol.Hello(protocol.VERSION, platform.python_version(), now_ns, is_pinned)
    confinement.send(replies, hello)
    for line in sys.stdin.buffer:
        confinement.send(replies, service.answer(protocol.read_request(line)))


if __name__ == "__main__":
    main()
