"""What is common to all retrieval: whose database it is, how queries are encrypted, and what a query is over."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

import msgspec

from ciphermark_contract.program import Program
from ciphermark_core.descriptor import Value
from ciphermark_workloads.retrieval import stores
from ciphermark_workloads.retrieval.work import Work
from ciphermark_workloads.workload import Input, Judgement, Output, Truth, Workload


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

    @abstractmethod
    def work(self) -> Work:
        """What a query is over, and what it brings."""

    def with_less(self, values: Mapping[str, Value]) -> Workload[Input, Output]:
        """Itself over a generated database, with some options changed: see :meth:`outline`."""
        return self.with_options({**msgspec.to_builtins(self.options), "database": "", **values})

    def server_figures(self, program: Program, threads: int) -> Mapping[str, float]:
        """The store that it answers from: see :mod:`.stores`."""
        return stores.figures(program, threads)

    def judge(self, found: Output, truth: Truth[Input, Output]) -> Judgement:
        """Byte for byte; :meth:`work` in figures."""
        return replace(super().judge(found, truth), figures=self.work().figures)
