"""How a phase gets ready: calibrated where one execution may be too short for a sample, and warmed up."""

from __future__ import annotations

from ciphermark_measure.sampling import Phase

# A first execution can take a few times as long as later ones: from so many times a sample's length on, and so long at
# least, even those fill a sample by themselves.
_LONG_SAMPLES = 4
_LONG_NS = 50_000_000


def is_long(phase: Phase, executed_ns: int) -> bool:
    """Whether one execution fills a sample, where the shortest of all bounds' first ones took ``executed_ns``."""
    return executed_ns >= max(_LONG_NS, _LONG_SAMPLES * phase.target.sample_ns)


def make_ready(phase: Phase, executed_ns: int, warmups: int) -> None:
    """Calibrate a phase whose bounds have been executed, where that is needed, and take its warm-up samples. Where one
    execution takes long, calibration would find what is known, and cost several more.
    """
    if not is_long(phase, executed_ns):
        phase.calibrate()
    phase.warm_up(warmups)
