from __future__ import annotations

from dataclasses import replace

import pytest

from ciphermark_contract.keys import KeyRequest
from ciphermark_core.budget import Budget
from ciphermark_core.errors import Exhausted, Unsupported
from ciphermark_core.model import Case, ParameterSpec, Trial
from ciphermark_measure import parameter_selection, protocol
from ciphermark_measure.service import Service, refusal

SPEC = ParameterSpec("bfv", 1024, modulus_bits=(27,), plain_modulus=65537)


def raised(error):
    def library_function():
        raise error

    with pytest.raises(type(error)) as caught:
        library_function()
    return caught.value


@pytest.mark.parametrize(
    ("error", "status", "text"),
    [
        (Unsupported("no such thing"), "unsupported", "no such thing"),
        (Exhausted("no level is left"), "budget_exhausted", "no level is left"),
        (MemoryError(), "out_of_memory", "the memory limit was reached: MemoryError"),
        (RuntimeError("std::bad_alloc"), "out_of_memory", "the memory limit was reached: std::bad_alloc"),
        (ValueError("scale mismatch"), "crashed", "ValueError: scale mismatch (in library_function)"),
        (KeyError("x"), "crashed", "KeyError: 'x' (in library_function)"),
        (AssertionError(), "crashed", "AssertionError: AssertionError (in library_function)"),
    ],
)
def test_every_exception_has_a_status(error, status, text):
    reply = refusal(raised(error))
    assert (reply.status, reply.error) == (status, text)


def test_an_exception_that_is_among_its_own_causes_has_a_status():
    error, other = raised(ValueError("bad input")), ValueError("also")
    error.__cause__, other.__cause__ = other, error
    assert refusal(error).error == "ValueError: bad input (in library_function)"


def trial(operation="add", experiment="arithmetic", **budget):
    case = Case("cleartext", experiment, operation, SPEC, 1024, "random")
    return Trial("id", "run", case, 0, 7, Budget(**({"min_samples": 3, "min_time_s": 0.0} | budget)))


@pytest.fixture
def service():
    service = Service()
    reply = service.answer(protocol.Prepare("cleartext", SPEC, KeyRequest.of(relinearization=True)))
    assert isinstance(reply, protocol.Prepared)
    return service


def closed(service, opened):
    assert service.answer(protocol.Open(opened)) == protocol.Turned(is_done=False)
    while not service.answer(protocol.Turn()).is_done:
        pass
    return service.answer(protocol.Close()).outcome


def test_a_trial_from_open_to_close(service):
    outcome = closed(service, trial())
    assert outcome.status == "ok"
    assert outcome.error is None
    assert outcome.accuracy.incorrect_slots == 0
    assert outcome.parameters.moduli[0].bit_length() == 27
    for phase in ("encrypt", "evaluate", "decrypt"):
        taken = [item for item in outcome.samples if item.phase == phase and item.metric == "time"]
        assert sum(not item.is_warmup for item in taken) >= 3
        assert sum(item.is_warmup for item in taken) == 1
        assert all(item.value > 0 for item in taken)


def test_a_refused_trial_leaves_the_service_usable(service):
    refused = service.answer(protocol.Open(trial("relinearize")))
    assert isinstance(refused, protocol.Refused)
    assert refused.status == "unsupported"
    assert "one prime" in refused.error
    assert closed(service, trial()).status == "ok"


def test_a_turn_without_a_trial_is_refused_and_no_end(service):
    assert isinstance(service.answer(protocol.Turn()), protocol.Refused)
    assert closed(service, trial()).status == "ok"


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (ParameterSpec("bfv", 1024, (27, 27), plain_modulus=65537), "write `security: none`"),
        (ParameterSpec("bfv", 1024, (12,), plain_modulus=65537), "primes of 12 bits"),
    ],
)
def test_parameters_that_cannot_be_are_refused(spec, text):
    reply = Service().answer(protocol.Prepare("cleartext", spec, KeyRequest.of(relinearization=True)))
    assert isinstance(reply, protocol.Refused)
    assert reply.status == "unsupported"
    assert text in reply.error


def test_peak_memory_of_every_phase(service):
    reply = service.answer(protocol.Memory(trial()))
    assert isinstance(reply, protocol.Peaks)
    peaks = {item.phase: item.value for item in reply.samples}
    if peaks:  # the kernel may refuse
        assert set(peaks) == {"encrypt", "evaluate", "decrypt"}
        assert all(value > 1 << 20 for value in peaks.values())


@pytest.mark.parametrize(
    ("ring_dimension", "log_qp", "asked", "reason"),
    [
        (4096, 109.0, 128, None),
        (4096, 500.0, 0, None),
        (4096, 75.0, 192, None),
        (512, 10.0, 0, None),
        (
            4096,
            109.1,
            128,
            "a chain of 109.1 bits at N = 4096 is above 109, the 2018 table's limit for 128 bits; ",
        ),
        (
            4096,
            109.0,
            256,
            "a chain of 109.0 bits at N = 4096 is above 58, the 2018 table's limit for 256 bits; ",
        ),
        (512, 10.0, 128, "N = 512 is below the smallest ring of the 2018 table; "),
    ],
)
def test_reason_against_a_modulus(ring_dimension, log_qp, asked, reason):
    remedy = "write `security: none` to allow it"
    assert parameter_selection.reason_against(replace(SPEC, security=asked), ring_dimension, log_qp) == (
        None if reason is None else reason + remedy
    )


def test_a_library_that_cannot_be_loaded_ahead_is_told_of_when_it_is_asked_for():
    service = Service()
    service.load("nonsense")
    reply = service.answer(protocol.Prepare("nonsense", SPEC, KeyRequest.of(relinearization=True)))
    assert isinstance(reply, protocol.Refused)
    assert "nonsense" in reply.error
    service.load("cleartext")
    reply = service.answer(protocol.Prepare("cleartext", SPEC, KeyRequest.of(relinearization=True)))
    assert reply.library.variant == "cleartext"
