"""The recipes for a metric and for a dimension of one family, followed on a copy: one file each, in a recorded run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from command import Ciphermark
from copies import copied, follow, touched

import ciphermark_workloads

PACKAGE = Path(ciphermark_workloads.__file__).parent
METRIC = (
    "micro/function.py",
    (
        "\n\ndef judged(",
        '\nMEAN_ERROR = register(Metric("mean_error", "absolute", "lower", 2.0, "mean error", "Mean of all errors."))'
        "\n\n\ndef judged(",
    ),
    (
        "    return Judgement(accuracy, complaint)\n",
        "    return Judgement(accuracy, complaint, {MEAN_ERROR.name: float(np.abs(found - right).mean())})\n",
    ),
    (
        "from ciphermark_core.model import Parameters",
        "from ciphermark_core.metrics import Metric, register\nfrom ciphermark_core.model import Parameters",
    ),
)
DIMENSION = (
    "micro/matrix_product.py",
    (
        "    ] = 32\n\n",
        "    ] = 32\n"
        "    reach: Annotated[\n"
        '        float, msgspec.Meta(gt=0, le=1, description="largest entry", extra={"is_newer": True})\n'
        "    ] = 1.0\n\n",
    ),
    (
        "        return np.random.default_rng(seed).uniform(-1, 1, (2, self.size, self.size))\n",
        "        reach = self.options.reach\n"
        "        return np.random.default_rng(seed).uniform(-reach, reach, (2, self.size, self.size))\n",
    ),
)
SUITE = {
    "kind": "micro",
    "variants": ["seal"],
    "workloads": ["matrix-product-packed"],
    "options": {"side": [4], "reach": [0.5, 1.0]},
    "security": "none",
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory, new_url: Callable[[], str]) -> tuple[Ciphermark, str]:
    """The command line over a copy of the package with both, and what a run of a suite printed."""
    folder = tmp_path_factory.mktemp("copy")
    copy = copied(PACKAGE, folder / "packages")
    follow(copy, *METRIC)
    assert touched(PACKAGE, copy) == {"micro/function.py"}
    follow(copy, *DIMENSION)
    assert touched(PACKAGE, copy) == {"micro/function.py", "micro/matrix_product.py"}
    command = Ciphermark(folder / "data", new_url(), {"PYTHONPATH": str(copy.parent)})
    return command, command("run", str(command.suite(SUITE))).out


@pytest.mark.extended
def test_a_metric_is_one_file_and_judged_as_it_says(ran: tuple[Ciphermark, str]) -> None:
    ciphermark, printed = ran
    rows = ciphermark.rows(
        "select unit, direction, threshold, n, median > 0 as is_there from results where metric = 'mean_error'"
    )
    assert rows == 2 * [
        {"unit": "absolute", "direction": "lower", "threshold": 2.0, "n": 3, "is_there": True}
    ]
    (described,) = ciphermark.rows("select label, sentence from metric where name = 'mean_error'")
    assert described == {"label": "mean error", "sentence": "Mean of all errors."}
    assert "mean error" in printed


@pytest.mark.extended
def test_a_dimension_is_one_file_and_varied_by_suites(ran: tuple[Ciphermark, str]) -> None:
    ciphermark, printed = ran
    rows = ciphermark.rows(
        "select dimensions ->> 'reach' as reach, count(distinct case_key) as n from results group by 1 order by 1"
    )
    assert rows == [
        {"reach": "0.5", "n": 1},
        {"reach": None, "n": 1},
    ]  # what is newer is left out at its default
    (described,) = ciphermark.rows("select sentence from dimension where name = 'reach'")
    assert described == {"sentence": "largest entry"}
    assert "reach 0.5, side 4" in " ".join(printed.split())
