"""Which times give a cache away."""

import pytest

from ciphermark_measure.caching import Times, suspicion

US, MS = 1e-6, 1e-3


@pytest.mark.parametrize(
    "times",
    [
        pytest.param(
            Times(4 * MS, 4.1 * MS, [4.3 * MS, 4.2 * MS], [4.2 * MS, 4.1 * MS]), id="multiplication"
        ),
        pytest.param(
            Times(5 * US, 6 * US, [75 * US, 70 * US], [80 * US, 60 * US]), id="addition, cold at first"
        ),
        pytest.param(Times(5 * US, 6 * US, [75 * US, 9 * MS], [80 * US, 60 * US]), id="one preemption"),
        pytest.param(
            Times(0.2 * US, 3 * US, [4 * US, 5 * US], [4 * US, 5 * US]), id="call costs more than work"
        ),
    ],
)
def test_honest_times_raise_no_suspicion(times: Times) -> None:
    assert suspicion(times) is None


@pytest.mark.parametrize(
    ("times", "word"),
    [
        pytest.param(
            Times(1 * US, 1 * US, [20 * US, 22 * US], [1 * US, 2 * US]), "seen ones", id="by operand"
        ),
        pytest.param(
            Times(0.4 * MS, 4 * MS, [4 * MS, 4 * MS], [4 * MS, 4 * MS]), "of many", id="within a loop"
        ),
        pytest.param(Times(1 * US, 1 * US, [4 * MS, 4 * MS], [4 * MS, 4 * MS]), "repeated", id="by binding"),
    ],
)
def test_cached_results_are_told(times: Times, word: str) -> None:
    told = suspicion(times)
    assert told is not None
    assert word in told
