"""Figures of the family learning."""

from __future__ import annotations

from ciphermark_present import formats, subject
from ciphermark_present.catalogue.columns import (
    OPTIONS,
    REASON,
    SCHEME,
    SECURITY_2018,
    STATUS,
    THREADS,
    VARIANT,
    WORKLOAD,
    N,
)
from ciphermark_present.figure import Column, Figure
from ciphermark_present.sentences import quality


def _seconds(name: str, label: str, short: str = "") -> Column:
    return Column(name, label, formats.seconds, is_number=True, short=short, brief=formats.brief_seconds)


def _share(name: str, label: str, short: str = "") -> Column:
    return Column(name, label, formats.share, is_number=True, short=short, brief=formats.brief_share)


def _error(name: str, label: str, short: str) -> Column:
    return Column(name, label, formats.small, is_number=True, short=short, brief=formats.relative)


def _peak(party: str) -> Column:
    label = f"Peak memory, {party}"
    brief = formats.brief_size
    return Column(
        f"{party}_peak_bytes", label, formats.size, is_number=True, short=f"{party} peak", brief=brief
    )


def _cpu(party: str) -> Column:
    return Column(
        f"{party}_cpu",
        f"CPU, {party}",
        formats.share,
        is_number=True,
        short=f"{party} CPU",
        brief=formats.percent,
    )


_STAGE_TIMES = (
    _seconds("prepare_s", "Prepare"),
    _seconds("train_s", "Train"),
    _seconds("infer_s", "Infer"),
)
_MSE = Column(
    "mse",
    "Mean squared error",
    formats.digits,
    is_number=True,
    short="mse",
    brief=lambda value: formats.brief_digits(value) or formats.NOTHING,
)
_EXPANSION = Column("expansion", "Expansion", formats.digits, is_number=True, brief=formats.times)
_SENT = Column("sent_bytes", "Sent", formats.size, is_number=True, brief=formats.brief_size)
QUALITY = (
    *_STAGE_TIMES,
    _share("accuracy", "Accuracy"),
    _MSE,
    _share("agreement", "Agreement", "agree"),
    _error("noise_error", "Noise error", "noise"),
    _error("rounding_error", "Rounding error", "rounding"),
    _EXPANSION,
    _SENT,
)
LEARNING = Figure(
    name="learning",
    title="Learning on encrypted data",
    lead=(
        "Median wall time of each phase, both parties and all transfers included: prepare makes keys, train fits the "
        "model (a plain one in the clear, at the client), infer classifies the test rows. Agreement is the share of "
        "rows whose class is that of the same algorithm in the clear; noise error the largest difference of scores "
        "from what should come out; rounding error, in bfv and bgv, that of this from the algorithm in the clear; "
        "expansion bytes sent by bytes of the data. The axis is logarithmic, and where libraries came out at several "
        "security levels (2018), each level has a line of its own."
    ),
    view="learning",
    subject=subject.LEARNING,
    narrowed_by=("data_set", "operation", "variant"),
    order="operation, options, data_set, scheme, threads, infer_s nulls last, variant",
    tell=quality.learning,
    chart="learning.phases",
    columns=(WORKLOAD, OPTIONS, SCHEME, THREADS, VARIANT, STATUS, N, SECURITY_2018, *QUALITY, REASON),
    empty="This run has no workload.",
)
_TIME = _seconds("time_s", "Time")
_SERIALIZATION = _seconds("serialization_s", "Serialization")
_TRANSFER = _seconds("transfer_s", "Transfer")
COSTS = (
    _TIME,
    _cpu("client"),
    _peak("client"),
    _cpu("server"),
    _peak("server"),
    _SERIALIZATION,
    _TRANSFER,
)
STAGES = Figure(
    name="stages",
    title="What each party does",
    lead=(
        "Each stage by party: CPU is that of the party by wall time of the stage, peak memory the high-water mark of "
        "its process. Serialization is that of both parties; transfer is messages, blobs and waiting."
    ),
    view="stages",
    subject=subject.LEARNING,
    narrowed_by=("data_set", "operation", "variant"),
    order=(
        "operation, options, scheme, threads, array_position(array['prepare', 'train', 'infer'], stage), time_s, "
        "variant"
    ),
    columns=(
        WORKLOAD,
        OPTIONS,
        SCHEME,
        THREADS,
        Column("stage", "Stage"),
        VARIANT,
        N,
        _TIME,
        _seconds("evaluate_s", "Evaluation"),
        _SERIALIZATION,
        _TRANSFER,
        _cpu("client"),
        _cpu("server"),
        _peak("client"),
        _peak("server"),
        SECURITY_2018,
    ),
    empty="This run has no workload that was ok.",
)
