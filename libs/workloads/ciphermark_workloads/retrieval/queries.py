"""What is common to all retrieval: whose database it is, and how a client encrypts its queries."""

from __future__ import annotations

from typing import Annotated

import msgspec

from ciphermark_workloads.workload import Input, Output, Workload


class Queries(msgspec.Struct, frozen=True):
    """The options that all protocols of retrieval have."""

    public_key_queries: Annotated[
        bool,
        msgspec.Meta(
            description="encrypt queries with the public key, though the library writes seeds",
            extra={"is_newer": True},
        ),
    ] = False
    database: Annotated[
        str,
        msgspec.Meta(
            description="a file of your own in place of a generated database: records.bin, records.csv",
            extra={"is_newer": True, "is_file": True},
        ),
    ] = ""


class Queried(Workload[Input, Output]):
    """Queries are encrypted with the secret key and written with seeds where a library writes such: half the bytes, and
    a fifth of the noise. Published protocols that encrypt with the public key are shown by the option.
    """

    family = "retrieval"

    @property
    def is_seeded(self) -> bool:
        return not self.options.public_key_queries
