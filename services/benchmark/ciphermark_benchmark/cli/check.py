"""Check a workload or computation, unencrypted and with every installed library."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ciphermark_adapters import registry
from ciphermark_adapters.registry import Availability
from ciphermark_benchmark.cli._output import console_for
from ciphermark_benchmark.cli._workloads import NoAnswerError, answer_of, chosen, decisions_of
from ciphermark_benchmark.suite import plan
from ciphermark_benchmark.suite.feasibility import DEADLINE_S
from ciphermark_benchmark.suite.files import parse
from ciphermark_core import host
from ciphermark_core.errors import UserError
from ciphermark_core.model import Scheme
from ciphermark_measure.parties.examination import Found
from ciphermark_present import terminal
from ciphermark_present.console import styled
from ciphermark_workloads import user_workloads
from ciphermark_workloads.catalogue import AnyWorkload

_CLEARTEXT, _DATA_SET = "cleartext", "boston"
_LETTING_GO_S = 20.0  # time to load a library and to end the process
_COLOURS = {"correct": "green", "incorrect": "red", "unsupported": "yellow"}
app = typer.Typer(add_completion=False)


@app.command(epilog="[bold]Example[/bold]  ciphermark check mine.py")
def check(
    workload: Annotated[str, typer.Argument(help="mine.py, mine.py:MyWorkload, or the name of a workload.")],
    variant: Annotated[
        list[str] | None, typer.Option(help="Check only with this variant. Repeatable.")
    ] = None,
    deadline: Annotated[float, typer.Option(help="Time limit per library, in seconds.", min=1)] = 60.0,
) -> None:
    """Check a workload or computation, unencrypted and with every installed library.

    Parameters are small ones if it fits them.
    """
    console = console_for()
    names: dict[str, list[str]] = {}  # variants by verdict
    loaded = chosen(workload, replace(user_workloads.LOADING, deadline_s=deadline))
    refused = _refused(loaded, variant or (), deadline)
    for name, scheme in _subjects(loaded, variant or ()):
        examined = refused.get((name, scheme)) or _examined(workload, name, scheme, deadline)
        verdict, colour = examined.verdict, _COLOURS[examined.verdict]
        names.setdefault(verdict, []).append(name)
        line = styled(
            f"{{}} {{}} [{colour}]{{}}[/{colour}] {{}}",
            f"{name:<10}",
            f"{scheme:<5}",
            f"{verdict:<12}",
            examined.text,
        )
        console.print(line, soft_wrap=True)
        if name == _CLEARTEXT and verdict == "incorrect":
            raise UserError(f"{workload} is incorrect without encryption: fix that first")
    if "incorrect" in names:
        blamed = ", ".join(dict.fromkeys(names["incorrect"]))
        raise UserError(f"{workload} is incorrect with {blamed}: see above")
    if "correct" not in names:
        raise UserError(f"no library executed {workload}: see above")
    console.print(f"{workload} is correct with every library that supports it", soft_wrap=True)
    terminal.show(console, decisions_of(loaded))


def _available(variants: Sequence[str]) -> dict[str, Availability]:
    """The named variants, or all installed ones if none is named; cleartext comes first."""
    flags = frozenset(host.collect().cpu_flags)
    there = {name: registry.availability(name, flags) for name in variants or registry.declarations()}
    chosen = {name: item for name, item in there.items() if variants or item.is_installed}
    return dict(sorted(chosen.items(), key=lambda item: (item[0] != _CLEARTEXT, item[0])))


def _subjects(workload: AnyWorkload, variants: Sequence[str]) -> Iterator[tuple[str, Scheme]]:
    """Pairs of variant and scheme, cleartext first."""
    names = _available(variants)
    for scheme in workload.schemes:
        for name in names:
            yield name, scheme


def _refused(
    workload: AnyWorkload, variants: Sequence[str], deadline_s: float
) -> dict[tuple[str, Scheme], Found]:
    """The refusals of a suite with only this workload, by variant and scheme. A refusal for cleartext is the workload's
    fault, whatever the variant.
    """
    experiment: dict[str, object] = {"kind": workload.family, "workloads": [workload.name]}
    if workload.takes_data:
        experiment["data_sets"] = [_DATA_SET]
    available = {**_available(variants), **_available([_CLEARTEXT])}
    suite = parse(
        json.dumps({"name": "check", "experiments": [{**experiment, "variants": [*available]}]}), "check"
    )
    planned = [item for item in plan.cases(suite, available, min(deadline_s, DEADLINE_S)) if item.reason]
    reasons = {
        (item.case.variant, item.case.parameters.scheme): str(item.reason)
        for item in planned
        if item.status == "unsupported"
    }
    return {
        (name, scheme): Found(
            "incorrect" if reasons.get((_CLEARTEXT, scheme)) == reason else "unsupported", reason
        )
        for (name, scheme), reason in reasons.items()
    }


def _examined(workload: str, variant: str, scheme: Scheme, deadline_s: float) -> Found:
    arguments = (workload, "--variant", variant, "--scheme", scheme, "--deadline", str(deadline_s))
    try:
        return answer_of(variant, "parties.examination", arguments, Found, deadline_s + _LETTING_GO_S)
    except TimeoutError:
        return Found("incorrect", f"exceeded the limit of {deadline_s:g} s")
    except MemoryError as error:
        return Found("incorrect", str(error))
    except NoAnswerError as end:
        words, file = str(end), Path(workload.partition(":")[0])
        return Found("incorrect", _death(words, file, deadline_s, end.code))


def _death(words: str, file: Path, deadline_s: float, code: int) -> str:
    """The cause of a process's end, from the end of its output. Pure."""
    if "Timeout (" not in words:
        return f"the process ended with exit code {code}: {words.strip()[-300:]}"
    where = user_workloads.place_in_dump(words, lambda path: path.name == file.name)
    return f"{where or file.name}: exceeded the limit of {deadline_s:g} s"
