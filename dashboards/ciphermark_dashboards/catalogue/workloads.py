"""Figures of chains of operations, of learning, and of what others published."""

from __future__ import annotations

from ciphermark_dashboards import formats
from ciphermark_dashboards.catalogue.columns import INTERVAL, OPERATION, VARIANT, N
from ciphermark_dashboards.charts import learning
from ciphermark_dashboards.figures import Column, Figure

CHAINS = Figure(
    name="chains",
    title="Chains of operations",
    lead=(
        "Total time of so many operations in a row, at the smallest N that is secure for the chain and where the suite "
        "names one, at a given N."
    ),
    block="chains",
    draw=learning.chains,
    columns=(
        OPERATION,
        Column("repetitions", "In a row", formats.digits, is_number=True),
        VARIANT,
        N,
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
        "Wall time of each phase, both parties and all transfers included. Agreement is the share of rows whose "
        "class is that of the same algorithm in the clear."
    ),
    block="learning",
    draw=learning.phases,
    columns=(
        Column("operation", "Workload"),
        Column("data_set", "Data"),
        Column("scheme", "Scheme"),
        VARIANT,
        N,
        Column("security_2018", "Security (2018)", formats.level),
        Column("prepare_s", "Prepare", formats.seconds, is_number=True),
        Column("train_s", "Train", formats.seconds, is_number=True),
        Column("infer_s", "Infer", formats.seconds, is_number=True),
        Column("transfer_s", "Transfer", formats.seconds, is_number=True),
        Column("cpu_share", "CPU", formats.share, is_number=True),
        Column("accuracy", "Accuracy", formats.share, is_number=True),
        Column("agreement", "Agreement", formats.share, is_number=True),
        Column("mse", "MSE", formats.digits, is_number=True),
        Column("noise_error", "Noise error", formats.small, is_number=True),
        Column("expansion", "Expansion", formats.digits, is_number=True),
        Column("client_peak_bytes", "Peak memory, client", formats.size, is_number=True),
        Column("server_peak_bytes", "server", formats.size, is_number=True),
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
        Column("source", "Source"),
        Column("year", "Year", formats.text, is_number=True),
        Column("published_host", "Measured on"),
        Column("system", "System"),
        Column("scheme", "Scheme"),
        Column("figure", "Figure"),
        Column("published_value", "Published", is_number=True, unit="unit"),
        Column("median", "Ours", is_number=True, unit="unit"),
        Column("variant", "Our variant", formats.text),
        Column("workload", "Our case", formats.text),
        Column("ring_dimension", "Our N", formats.text, is_number=True),
        Column("note", "Note", formats.text),
    ),
)
