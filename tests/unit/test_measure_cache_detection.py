"""Which times give a cache away."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_measure.interference import cache_detection
from ciphermark_measure.interference.cache_detection import Times, lasting_suspicion, suspicion

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


@pytest.fixture(scope="module", autouse=True)
def no_pauses():
    """Looks follow each other at once, five in all."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(cache_detection, "_LOOKING_S", 0.0)
        patched.setattr(cache_detection, "_MIN_LOOKS", 5)
        patched.setattr(cache_detection, "_FIRST_PAUSE_S", 0.0)
        yield


STALLS = st.lists(st.floats(1, 1000), min_size=25, max_size=25)
"""How many times as long each of five executions in each of five looks takes, because of the host."""


def looked_at(stalls, repeated_s, single_s, fresh_s, seen_s):
    """A look as it comes out where the host makes executions longer."""

    def look(number):
        of = iter(stalls[5 * number :])
        return Times(
            repeated_s,
            single_s * next(of),
            [fresh_s * next(of), fresh_s * next(of)],
            [seen_s * next(of), seen_s * next(of)],
        )

    return look


@given(STALLS, st.integers(0, 4))
def test_a_host_that_stalls_looks_like_a_cache_only_while_it_does(stalls, calm):
    stalls[5 * calm : 5 * calm + 5] = [1.0] * 5
    assert lasting_suspicion(looked_at(stalls, 1 * MS, 1.1 * MS, 1.2 * MS, 1.2 * MS)) is None


@given(STALLS)
def test_stalls_do_not_hide_a_cache_within_a_loop(stalls):
    assert lasting_suspicion(looked_at(stalls, 0.1 * MS, 4 * MS, 4 * MS, 4 * MS)) is not None


@given(STALLS, st.integers(1, 4))
def test_a_stall_in_a_later_look_does_not_hide_a_cache_of_operands(stalls, stalled):
    calm = [1.0] * 25
    calm[5 * stalled + 3 : 5 * stalled + 5] = stalls[:2]
    assert lasting_suspicion(looked_at(calm, 1 * US, 1 * US, 400 * US, 1 * US)) is not None


def test_operands_that_come_out_wrong_end_the_looking():
    assert lasting_suspicion(lambda number: None) is None
