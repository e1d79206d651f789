"""Figures of chains of operations, of learning, and of what others published."""

from __future__ import annotations

from ciphermark_dashboards import formats
from ciphermark_dashboards.catalogue.columns import INTERVAL, OPERATION, SIZE, VARIANT, N
from ciphermark_dashboards.charts import learning
from ciphermark_dashboards.figures import Column, Figure

CHAINS = Figure(
    name="chains",
    title="Chains of operations",
    lead=(
        "Median total time of so many operations in a row, at the smallest N that is secure for the chain and, where "
        "the suite names one, at a given N. The time axis is logarithmic."
    ),
    block="chains",
    draw=learning.chains,
    columns=(
        OPERATION,
        Column("repetitions", "In a row", formats.digits, is_number=True),
        VARIANT,
        N,
        SIZE,
        Column("is_least", "Smallest secure N", formats.yes),
        Column("status", "Outcome"),
        Column("median", "Total time", formats.seconds, is_number=True),
        *INTERVAL,
        Column("peak_bytes", "Peak memory", formats.size, is_number=True),
        Column("bits_left", "Bits left", formats.bits, is_number=True),
        Column("log_qp", "log2(QP)", formats.bits, is_number=True),
        Column("security_2018", "Security (2018)", formats.level),
        Column("error", "Reason", formats.text),
    ),
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
    block="learning",
    draw=learning.phases,
    columns=(
        Column("operation", "Workload"),
        Column("scheme", "Scheme"),
        VARIANT,
        Column("status", "Outcome"),
        N,
        Column("security_2018", "Security (2018)", formats.level),
        Column("prepare_s", "Prepare", formats.seconds, is_number=True),
        Column("train_s", "Train", formats.seconds, is_number=True),
        Column("infer_s", "Infer", formats.seconds, is_number=True),
        Column("accuracy", "Accuracy", formats.share, is_number=True),
        Column("agreement", "Agreement", formats.share, is_number=True),
        Column("mse", "Mean squared error", formats.digits, is_number=True),
        Column("noise_error", "Noise error", formats.small, is_number=True),
        Column("rounding_error", "Rounding error", formats.small, is_number=True),
        Column("expansion", "Expansion", formats.digits, is_number=True),
        Column("error", "Reason", formats.text),
    ),
    empty="This run has no workload.",
)
STAGES = Figure(
    name="stages",
    title="What each party does",
    lead=(
        "Each stage by party: CPU is that of the party by wall time of the stage, peak memory the high-water mark of "
        "its process. Serialization is that of both parties; transfer is messages, blobs and waiting."
    ),
    block="stages",
    columns=(
        Column("operation", "Workload"),
        Column("scheme", "Scheme"),
        Column("stage", "Stage"),
        VARIANT,
        N,
        Column("time_s", "Time", formats.seconds, is_number=True),
        Column("evaluate_s", "Evaluation", formats.seconds, is_number=True),
        Column("serialization_s", "Serialization", formats.seconds, is_number=True),
        Column("transfer_s", "Transfer", formats.seconds, is_number=True),
        Column("client_cpu", "CPU, client", formats.share, is_number=True),
        Column("server_cpu", "CPU, server", formats.share, is_number=True),
        Column("client_peak_bytes", "Peak memory, client", formats.size, is_number=True),
        Column("server_peak_bytes", "Peak memory, server", formats.size, is_number=True),
        Column("security_2018", "Security (2018)", formats.level),
    ),
    empty="This run has no workload that was ok.",
)
PUBLISHED = Figure(
    name="published",
    title="Published figures beside ours",
    lead=(
        "From papers, each with the host it was measured on. Hosts differ, and so may parameters: they are no "
        "comparison of libraries, and are never ranked."
    ),
    block="published",
    columns=(
        Column("figure", "Figure", is_prose=True),
        Column("scheme", "Scheme"),
        Column("system", "System"),
        Column("published_value", "Published", is_number=True, unit="unit"),
        Column("median", "Ours", is_number=True, unit="unit"),
        Column("variant", "Our variant", formats.text),
        Column("operation", "Our case", formats.text),
        Column("ring_dimension", "Our N", formats.text, is_number=True),
        Column("source", "Source", is_prose=True),
        Column("year", "Year", formats.text, is_number=True),
        Column("published_host", "Measured on", is_prose=True),
        Column("note", "Note", formats.text, is_prose=True),
    ),
)
