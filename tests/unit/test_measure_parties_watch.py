"""Steps of parties are watched as samples of operations are: each time says how it was slowed."""

from __future__ import annotations

import msgspec
import pytest

from ciphermark_measure.interference import cpu_steal
from ciphermark_measure.interference.host_state import GAIN, Gate
from ciphermark_measure.parties import messages, party
from ciphermark_measure.parties.messages import CHECK
from ciphermark_measure.parties.party import HostWatch, Steps

MS = 1_000_000
REFERENCE_KERNEL_NS = 50_000


class Host:
    """A host with a clock of its own, on which the reference kernel takes ``ratio`` times as long, and of which others
    take the core.
    """

    def __init__(self, ratio: float = 1.0) -> None:
        self.ratio = ratio
        self.time_ns = 0
        self.delay_ns = 0
        self.memory_readings = 0

    def read_ns(self) -> int:
        reading = round(REFERENCE_KERNEL_NS * self.ratio)
        self.time_ns += reading
        return reading

    def now_ns(self) -> int:
        return self.time_ns

    def watch(self) -> HostWatch:
        watch = HostWatch(
            Gate(self, self, lambda: self.delay_ns, memory=_Memory(self)), float(REFERENCE_KERNEL_NS)
        )
        watch.begin_trial()
        return watch

    def work(self, waited: float = 0.0) -> None:
        """Work for 10 ms, for a share of which the process waited."""
        self.time_ns += 10 * MS
        self.delay_ns += round(waited * 10 * MS)


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    own = Host()
    monkeypatch.setattr(party, "perf_counter_ns", own.now_ns)
    return own


class _Memory:
    def __init__(self, host: Host) -> None:
        self._host = host

    def read_ns(self) -> int:
        self._host.memory_readings += 1
        self._host.time_ns += 40_000
        return 40_000


def times(steps: Steps) -> dict[tuple[str, str], object]:
    return {(sample.metric, sample.step or str(sample.party)): sample for sample in steps.samples()}


def test_a_step_without_its_core_is_disturbed_and_the_party_by_all_of_its_steps(host: Host) -> None:
    steps = Steps("infer", "server", host.watch())
    with steps.step("deserialize"):
        host.work()
    with steps.step("evaluate"):
        host.work(waited=0.9)
    with steps.step("evaluate"):
        host.work(waited=0.9)
    found = times(steps)
    assert not found["time", "deserialize"].is_disturbed
    assert found["time", "evaluate"].is_disturbed
    assert found["time", "server"].is_disturbed


def test_a_step_that_waited_keeps_its_cpu_time(host: Host) -> None:
    """What the process did on its core is told by its CPU time, however long it waited between."""
    host.ratio = 1.4
    steps = Steps("infer", "server", host.watch())
    with steps.step("evaluate"):
        host.work(waited=0.9)
    found = times(steps)
    assert found["time", "evaluate"].is_disturbed
    for place in ("evaluate", "server"):
        assert not found["cpu_time", place].is_disturbed
        assert found["cpu_time", place].slowdown == pytest.approx(1 + GAIN * 0.4)


def test_times_are_slowed_by_reference_kernel_and_wait_and_cpu_times_by_the_reference_kernel_alone(
    host: Host,
) -> None:
    host.ratio = 1.4
    steps = Steps("infer", "client", host.watch())
    with steps.step("encrypt"):
        host.work(waited=0.4)
    found = times(steps)
    by_host = 1 + GAIN * 0.4
    assert found["time", "encrypt"].slowdown == pytest.approx(by_host / 0.6)
    assert found["cpu_time", "encrypt"].slowdown == pytest.approx(by_host)
    assert not found["time", "client"].is_disturbed


def test_what_watching_costs_is_of_no_stage(host: Host) -> None:
    steps = Steps("infer", "server", host.watch())
    with steps.step("evaluate"):
        host.work()
    assert times(steps)["time", CHECK].value > 0
    unwatched = Steps("infer", "server")
    with unwatched.step("evaluate"):
        pass
    assert ("time", CHECK) not in times(unwatched)


@pytest.mark.parametrize("reads_memory", [False, True])
def test_the_memory_kernel_is_read_where_no_peak_is_told(host: Host, reads_memory: bool) -> None:
    watch = host.watch()
    steps = Steps("infer", "server", watch, reads_memory)
    with steps.step("evaluate"):
        host.work()
    steps.samples()
    assert (host.memory_readings > 0) == reads_memory
    assert ("memory_kernel_s" in watch.facts.by_name) == reads_memory
    assert watch.facts.reference_kernel_s == REFERENCE_KERNEL_NS / 1e9


def test_all_that_is_read_of_a_host_has_a_place_in_messages_and_nothing_else_has(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steal time where the hypervisor takes some of its account back, too."""
    accounts = iter((3.0, 2.5))
    monkeypatch.setattr(cpu_steal, "run_delay_ns", lambda: 0)
    monkeypatch.setattr(cpu_steal, "steal_s", lambda cpus: next(accounts))
    watch = HostWatch(Gate(host, host, lambda: host.delay_ns, memory=_Memory(host)))
    steps = Steps("infer", "server", watch, True)
    with steps.step("evaluate"):
        host.work()
    steps.samples()
    facts = watch.facts
    assert {*facts.by_name} == {*msgspec.structs.asdict(facts)}
    assert msgspec.convert(msgspec.to_builtins(facts), messages.HostReadings) == facts


def test_pieces_of_a_step_are_watched_as_one(host: Host) -> None:
    steps = Steps("prepare", "client", host.watch())
    assert [*steps.each("keygen", iter([b"a", b"b"]))] == [b"a", b"b"]
    assert steps.of_each("deserialize", lambda item: host.work(waited=0.9), [b"a", b"b"]) == [None, None]
    found = times(steps)
    assert not found["time", "keygen"].is_disturbed
    assert found["time", "deserialize"].is_disturbed
