"""A party of a workload as a separate process, confined like a worker.

``python -m ciphermark_measure.parties.worker --role client --blobs FOLDER --cpus 1 --memory-mb 8192``. Requests arrive
on standard input; replies go to the original standard output.
"""

from __future__ import annotations

import argparse
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ciphermark_core import containment, loading
from ciphermark_measure import confinement, protocol

if TYPE_CHECKING:
    from ciphermark_measure.parties.party import Party


def main() -> None:
    """Confine the process, greet, and serve until standard input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--role", choices=("client", "server"), required=True)
    parser.add_argument("--blobs", type=Path, required=True)
    parser.add_argument(
        "--scratch", action="store_true", help="the blobs need not survive a stop of the machine"
    )
    parser.add_argument("--data-sets", type=Path, help="a folder of the client's own data sets, NAME.csv")
    parser.add_argument(
        "--keys", type=Path, help="a folder of the client alone, for secret keys that it keeps"
    )
    parser.add_argument("--workloads", type=Path, help="a folder of the user's own workloads, NAME.py")
    parser.add_argument("--files", type=Path, help="a folder of files that options name: NAME@DIGEST.SUFFIX")
    parser.add_argument("--baseline-ns", type=float, help="the reference-kernel baseline on this host")
    parser.add_argument(
        "--led", action="store_true", help="below another process, which ends what this one leaves behind"
    )
    confinement.add_options(parser)
    arguments = parser.parse_args()
    if arguments.led:
        containment.lead(confinement.WHERE)
    replies = confinement.own_output()
    confinement.confine(arguments.memory_mb)
    is_pinned = confinement.pin(arguments.cpus)
    with loading.undisturbed():  # numpy and the rest load confined
        from ciphermark_measure.clock import MonotonicClock
        from ciphermark_measure.parties import messages
        from ciphermark_measure.probes import peak_memory

        party = _party(arguments)
    if arguments.role == "client":  # the server's party has no secrets, and tests inspect it
        peak_memory.keep_open()
        confinement.seal()
    clock = MonotonicClock()
    hello = protocol.Hello(messages.VERSION, platform.python_version(), clock.now_ns(), is_pinned)
    confinement.send(replies, hello)
    for line in sys.stdin.buffer:
        confinement.send(replies, party.answer(messages.read_request[arguments.role](line)))


def _party(arguments: argparse.Namespace) -> Party:
    from ciphermark_measure.parties.blobs import BlobStore
    from ciphermark_measure.parties.client import Client
    from ciphermark_measure.parties.inputs import finder
    from ciphermark_measure.parties.party import HostWatch
    from ciphermark_measure.parties.secret_keys import SecretKeys
    from ciphermark_measure.parties.server import Server
    from ciphermark_workloads import user_workloads
    from ciphermark_workloads.catalogue import WORKLOADS

    if arguments.files is not None:
        user_workloads.look_in(arguments.files)
    store = BlobStore(arguments.blobs, is_scratch=arguments.scratch)
    workloads = user_workloads.CatalogueWithCopies(WORKLOADS, arguments.workloads)
    host = HostWatch.of_this_process(arguments.baseline_ns)
    if arguments.role == "client":
        secret_keys = SecretKeys(arguments.keys) if arguments.keys is not None else None
        return Client(store, workloads, finder(arguments.data_sets), host, secret_keys)
    return Server(store, workloads, host)


if __name__ == "__main__":
    main()
