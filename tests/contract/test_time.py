"""``Bound.run`` is the one thing that is timed: it must tell the time of its loops and of nothing else."""

from __future__ import annotations

from . import examples
from .checks import time
from .harness import Subject


def test_a_bound_operation_tells_its_time(subject: Subject) -> None:
    rows = [examples.primitive(subject, "add", seed).row for seed in range(3)]
    for part in (rows[:1], rows):
        time.is_told(subject.evaluator.bind("add", part))


def test_a_managed_operation_tells_its_time(subject: Subject) -> None:
    time.is_told(subject.managed.bind("add", [examples.managed(subject, "add", 0).row]))


def test_encryption_and_decryption_tell_their_time(subject: Subject) -> None:
    values = subject.vector(0)
    time.is_told(subject.owner.bind("encrypt", [(values,)]))
    time.is_told(subject.owner.bind("decrypt", [(subject.owner.encrypt(values),)]))


def test_the_empty_loop_tells_its_time(subject: Subject) -> None:
    time.is_told(subject.evaluator.empty())
    time.is_told(subject.owner.empty())
