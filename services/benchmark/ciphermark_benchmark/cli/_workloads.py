"""The workload that a command line names, an installed one or a file, and questions to processes that load it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from ciphermark_adapters import registry
from ciphermark_core import host
from ciphermark_core.budget import Budget
from ciphermark_core.containment import Limits
from ciphermark_measure.processes import executed
from ciphermark_present.printed import Head, Printed
from ciphermark_workloads import user_workloads
from ciphermark_workloads.catalogue import WORKLOADS, AnyWorkload, named

T = TypeVar("T")


def chosen(name: str, limits: Limits = user_workloads.LOADING) -> AnyWorkload:
    """The workload of a name or file. Raises ``UserError`` for an unknown one, and for one that a
    suite would refuse.
    """
    if user_workloads.is_own(name):
        return WORKLOADS[user_workloads.copied(name, Path(), limits).name]
    return named(WORKLOADS, name)


class NoAnswerError(Exception):
    """A process gave no answer; the text is the end of its output."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(words)
        self.code = code


def answer_of(variant: str, module: str, arguments: Sequence[str], kind: type[T], deadline_s: float) -> T:
    """The answer of a module in a separate process, with the interpreter that has the library, since a workload may
    loop or crash there. Raises ``TimeoutError``, ``MemoryError``, and ``NoAnswerError`` if there is no answer.
    """
    command = [registry.interpreter(variant), "-m", f"ciphermark_measure.{module}", *arguments]
    ended = executed(command, Limits(deadline_s, Budget().memory_mb))
    try:
        return msgspec.json.decode(ended.output, type=kind)
    except msgspec.MsgspecError:
        raise NoAnswerError(ended.code, ended.errors) from None


def decisions_of(workload: AnyWorkload) -> list[Printed]:
    """The choices that Ciphermark made for a workload, a table for each scheme; none where its author made them."""
    heads = (Head("choice"), Head("value", is_prose=True), Head("reason", is_prose=True))
    tables = []
    for scheme in workload.schemes:
        rows = tuple((item.name, item.value, item.reason) for item in workload.decisions(scheme))
        if rows:
            tables.append(Printed(f"{workload.title}, {scheme.upper()}", "", heads, rows))
    return tables


def of_file(name: str) -> tuple[Path, str, list[Printed]]:
    """A suite of one experiment, the workload of a file with every installed library: the file, the text of the suite,
    and the choices behind its parameters. Raises ``UserError`` as :func:`chosen`.
    """
    file, _, kind = name.partition(":")
    workload, path = chosen(name), Path(file)
    flags = frozenset(host.collect().cpu_flags)
    variants = [
        variant
        for variant, declared in registry.declarations().items()
        if not declared.is_reference and registry.availability(variant, flags).is_installed
    ]
    experiment = {
        "kind": workload.family,
        "workloads": [f"./{path.name}{f':{kind}' if kind else ''}"],
        "variants": variants,
    }
    suite = {"name": workload.name.partition("@")[0], "experiments": [experiment]}
    return path, json.dumps(suite), decisions_of(workload)
