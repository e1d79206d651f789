"""Runs in Python: execute a suite or a computation, and read its results as data frames and pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas

from ciphermark_benchmark import data_directory as data_directories
from ciphermark_benchmark import figure_rows, run_figures, run_names
from ciphermark_benchmark.cli.run import asked, executed, suite_of
from ciphermark_benchmark.runner.recorder import caught_up
from ciphermark_core.errors import UserError
from ciphermark_dashboards import pictures
from ciphermark_present import links
from ciphermark_present.catalogue.whole_cost import WHOLE_COST, of_link
from ciphermark_workloads.computation import Computation


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure of a run. A notebook displays its chart, or its rows where it has no chart.

    ``rows`` are the rows of its table, ``svg`` is the chart with title, parameters and source; empty without a chart.
    """

    name: str
    title: str
    rows: pandas.DataFrame = field(repr=False)
    svg: str = field(repr=False)

    def save(self, path: str | Path) -> None:
        """Write the chart as SVG."""
        if not self.svg:
            raise UserError(f"{self.name} is a table: use rows.to_csv({str(path)!r})")
        Path(path).write_text(self.svg, encoding="utf-8")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """The forms that a notebook chooses from."""
        shown = {"image/svg+xml": self.svg} if self.svg else {"text/html": self.rows.to_html()}
        return {"text/plain": repr(self), **shown}


@dataclass(frozen=True, slots=True)
class Run:
    """A recorded run, by its whole ``id``. Each property reads the database again."""

    id: str

    @property
    def results(self) -> pandas.DataFrame:
        """The view ``results``: a row per case, phase and metric, with median and 95% interval, in seconds and bytes.
        A case that failed has its status and reason.
        """
        return self._view("results")

    @property
    def ratios(self) -> pandas.DataFrame:
        """The view ``ranking``: time divided by the fastest time of the same case at equal security, with 95%
        interval.
        """
        return self._view("ranking")

    def costs(self, bandwidth: str = links.USUAL) -> pandas.DataFrame:
        """The whole cost of every workload: ``total_s`` over a link of this bandwidth, bytes, keys, memory of both
        parties and largest error. The rows are those of the view ``whole_costs``.
        """
        with caught_up(data_directories.find()) as database:
            rows = figure_rows.rows(database, WHOLE_COST, self.id)
        return pandas.DataFrame(of_link(rows, bandwidth))

    def figure(self, name: str, filters: Mapping[str, str] | None = None) -> Picture:
        """A figure, by its name in ``ciphermark figure``. ``filters`` are those of ``--filter``, such as
        ``{"scheme": "ckks"}``. Raises ``UserError`` for an unknown name, and where the run has nothing to show.
        """
        run_figures.require_known(name)
        with run_figures.opened() as store:
            item = run_figures.filled(store, name, self.id, [*(filters or {}).items()])
            has_chart = item.figure.chart is not None and item.specification is not None
            svg = pictures.written(store, item, "svg", pictures.look()).decode() if has_chart else ""
        return Picture(name, item.title, frame(item.answer.columns, item.answer.rows), svg)

    def _view(self, name: str) -> pandas.DataFrame:
        with caught_up(data_directories.find()) as database:
            table = database.query(f"select * from {name} where run_id = %s", [self.id])
        return frame(table.columns, table.rows)


def frame(columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> pandas.DataFrame:
    """The rows of a query as a data frame."""
    return pandas.DataFrame([*rows], columns=[*columns])


def run(subject: str | Path | Computation, *, variants: Sequence[str] = (), label: str | None = None) -> Run:
    """Execute and record a suite or a computation, as ``ciphermark run`` does.

    ``subject`` is the name or the file of a suite, a file with a computation, or a computation of a file.
    ``variants`` restricts it to these. Progress goes to standard error. While another run is active on this host, it
    waits. Raises ``UserError`` for a mistake in the request, and where outcomes could not be recorded.
    """
    data_directory = data_directories.find()
    path, text = suite_of(path_of(subject), lambda decisions: None)
    ended = executed(data_directory, asked(data_directory, path, text, [*variants], label=label))
    if ended.waiting is not None:
        raise UserError(f"run {ended.run.id} is not recorded yet: {ended.waiting}")
    return Run(ended.run.id)


def path_of(subject: str | Path | Computation) -> Path:
    """The name or path that the command line takes for a subject."""
    if not isinstance(subject, Computation):
        return Path(subject)
    code = type(subject).function.__code__
    if not Path(code.co_filename).is_file():
        raise UserError(
            f"{code.co_name} is in no file: in a notebook, write it with %%writefile {code.co_name}.py"
        )
    return Path(f"{code.co_filename}:{code.co_name}")


def opened(run: str = "last") -> Run:
    """A recorded run: by its id or the beginning of it, its label, ``last``, ``last~1`` or ``last:SUITE``.

    Raises ``UserError`` if the text denotes no run, or several.
    """
    with caught_up(data_directories.find()) as database:
        return Run(run_names.resolved(database, run))
