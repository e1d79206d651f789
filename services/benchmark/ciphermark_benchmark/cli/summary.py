"""Print a one-screen summary of a run: fastest variants, whole costs, HEXL speedup, highlights."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import typer
from rich.text import Text

from ciphermark_adapters import registry
from ciphermark_benchmark import data_directory as data_directories
from ciphermark_benchmark import run_names
from ciphermark_benchmark.cli._output import console_for
from ciphermark_benchmark.cli._result_tables import MAIN_PHASE, heading, table_of
from ciphermark_benchmark.cli.results import BANDWIDTH_HELP
from ciphermark_benchmark.figure_rows import rows
from ciphermark_benchmark.run_names import RUN_HELP
from ciphermark_benchmark.runner.recorder import caught_up
from ciphermark_core.security import COMPARED_BY, Table
from ciphermark_db.database import Database
from ciphermark_present import highlights, links
from ciphermark_present.catalogue import ranking, times, whole_cost
from ciphermark_present.catalogue.first_executions import FIRST_EXECUTIONS
from ciphermark_present.highlights import Evidence
from ciphermark_present.printed import Wanted, absent_last, grouped
from ciphermark_present.query import TABLE, Row

_WIDEST = 80
_SHOWN_ID = 8
_MAX_COSTS = 5


app = typer.Typer(add_completion=False)


@app.command(epilog="[bold]Example[/bold]  ciphermark summary last:quick")
def summary(
    run: Annotated[str, typer.Argument(help=RUN_HELP)] = "last",
    bandwidth: Annotated[str, typer.Option(help=BANDWIDTH_HELP)] = links.USUAL,
) -> None:
    """Print a one-screen summary of a run: fastest variants, whole costs, HEXL speedup, highlights."""
    console = console_for()
    speed = links.rate(links.bits_per_second(bandwidth))
    with caught_up(data_directories.find()) as database:
        run_id = run_names.resolved(database, run)
        parts = list(_parts(database, run_id, speed))
        title = heading(database, run_id)
    width = min(console.width, _WIDEST)
    for line in textwrap.wrap(title, width):
        console.print(Text(line), soft_wrap=True)
    for name, texts in parts:
        console.print()
        console.print(Text(name, style="bold"))
        for sentence in texts:
            for line in textwrap.wrap(
                sentence, width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
            ):
                console.print(Text(line), soft_wrap=True)
    console.print(f"\nResults by case: ciphermark results {run_id[:_SHOWN_ID]}")


def _parts(database: Database, run_id: str, bandwidth: str) -> Iterator[tuple[str, list[str]]]:
    """Headings with their sentences."""
    table = table_of(database, run_id)
    wanted, chosen = Wanted(table=table), {"across_security_levels": False, TABLE: table}
    answers = [rows(database, figure, run_id, chosen) for figure in ranking.OF_RUN]
    leaders = list(ranking.of_run(answers, wanted))
    yield "Fastest variants", leaders or ["This run has no times to rank."]
    costs = whole_cost.of_link(rows(database, whole_cost.WHOLE_COST, run_id, chosen), bandwidth)
    if costs:
        yield "Whole costs", list(whole_cost.brief(costs, _MAX_COSTS))
    timings = [ranking.timed(answer) for answer in answers]
    speedups = timings[ranking.FIGURES.index(ranking.SPEEDUPS)]
    yield (
        "HEXL speedup",
        list(_hexl(speedups, table)) or ["This run has no builds with and without HEXL."],
    )
    evidence = Evidence(
        [row for same in ranking.contests(timings, wanted) for row in same],
        speedups,
        rows(database, FIRST_EXECUTIONS, run_id, {"phase": MAIN_PHASE}),
        _wraps(),
    )
    yield "Highlights", highlights.highlights(evidence) or ["None."]


def _hexl(speedups: Iterable[Row], table: Table) -> Iterator[str]:
    """A sentence for each scheme and security level."""

    def level(row: Row) -> tuple[Any, ...]:
        return row["scheme"], row[COMPARED_BY[table]]

    for same in grouped(sorted(speedups, key=lambda row: absent_last(*level(row))), level):
        yield from times.tell_speedup(same, {**same[0], TABLE: table})


def _wraps() -> dict[str, str]:
    """The variants that wrap another variant's library, with that variant."""
    declarations = registry.declarations().items()
    return {name: declared.wraps for name, declared in declarations if declared.wraps is not None}
