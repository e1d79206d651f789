"""The recipe for a probe and its metric, followed on a copy: one file, and their figures are in ``results``."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from pathlib import Path

import pytest
from command import Ciphermark
from copies import copied, touched

import ciphermark_measure

SMALL = {"kind": "arithmetic", "schemes": ["bfv"], "ring_dimension": [4096]}
FILE = '''
"""Page faults that needed no disk."""

from __future__ import annotations

import resource
from collections.abc import Mapping

from ciphermark_core.metrics import Metric, register
from ciphermark_measure.probes.base import Probe


class PageFaults(Probe):
    """By getrusage(2)."""

    metrics = (
        register(Metric("page_faults", "faults", "lower", 1.0, "page faults", "Page faults that needed no disk.")),
        register(Metric("page_size", "bytes", None, 1.0, "page size", "Size of a page.", adds_up=False)),
    )
    _start = 0

    def start(self) -> None:
        """See :meth:`Probe.start`."""
        self._start = resource.getrusage(resource.RUSAGE_SELF).ru_minflt

    def stop(self) -> Mapping[str, float]:
        """See :meth:`Probe.stop`."""
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - self._start
        return {"page_faults": float(faults), "page_size": float(resource.getpagesize())}


class Unavailable(Probe):
    """What this host lacks."""

    metrics = (register(Metric("joules", "J", "lower", 1.0, "energy", "Energy of the package.")),)

    def available(self) -> str | None:
        """See :meth:`Probe.available`."""
        return "no counter of energy"

    def start(self) -> None:
        """See :meth:`Probe.start`."""
        raise OSError

    def stop(self) -> Mapping[str, float]:
        """See :meth:`Probe.stop`."""
        raise OSError
'''


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory, new_url: Callable[[], str]) -> tuple[Ciphermark, str]:
    """The command line over a copy of the package with one more file, and what a run of a suite printed."""
    folder = tmp_path_factory.mktemp("copy")
    ours = Path(ciphermark_measure.__file__).parent
    package = copied(ours, folder / "packages")
    (package / "probes" / "page_faults.py").write_text(FILE)
    assert touched(ours, package) == {"probes/page_faults.py"}
    command = Ciphermark(folder / "data", new_url(), {"PYTHONPATH": str(package.parent)})
    suite = command.suite(SMALL | {"variants": ["seal"], "operations": ["add"], "vector_length": [16]})
    return command, command("run", str(suite)).out


@pytest.mark.extended
def test_its_figures_are_in_results(ran: tuple[Ciphermark, str]) -> None:
    rows = ran[0].rows(
        "select phase, unit, n between 1 and 9 as is_sampled, max from results "
        "where metric in ('page_faults', 'page_size') order by metric, phase"
    )
    phases = ("decrypt", "encrypt", "evaluate")
    # Three samples are asked for, and four at most are taken for them.
    assert [(row["phase"], row["unit"], row["is_sampled"]) for row in rows] == [
        *((phase, "faults", True) for phase in phases),
        *((phase, "bytes", True) for phase in phases),
    ]
    assert {row["max"] for row in rows[3:]} == {float(mmap.PAGESIZE)}


@pytest.mark.extended
def test_what_a_host_lacks_is_told_with_the_reason(ran: tuple[Ciphermark, str]) -> None:
    told = "joules is not measured here: no counter of energy"
    ciphermark, printed = ran
    assert told in ciphermark("doctor").out
    assert f"Warning: {told}" in printed
    assert ciphermark.rows("select count(*) as n from results where metric = 'joules'") == [{"n": 0}]
