"""Columns that several tables have."""

from __future__ import annotations

from ciphermark_db.comparison import short_level
from ciphermark_figures import formats
from ciphermark_figures.answer import Row
from ciphermark_figures.figure import Column


def _chain(row: Row) -> str:
    return f"log2(QP) = {row['log_qp']:.0f} ({', '.join(map(str, row['modulus_bits']))})"


VARIANT = Column("variant", "Variant")
OPERATION = Column("operation", "Operation")
WORKLOAD = Column("operation", "Workload")
OPTIONS = Column("options", "Options", formats.text)
RANKED = Column("label", "Operation")  # composed ones apart
SCHEME = Column("scheme", "Scheme")
N = Column(
    "ring_dimension", "N", formats.text, is_number=True, heading=lambda row: f"N = {row['ring_dimension']}"
)
SIZE = Column("size", "Elements", formats.digits, is_number=True)
DATA = Column("data_pattern", "Data")
THREADS = Column("threads", "Threads", formats.text, is_number=True)
CHAIN = Column("modulus_bits", "Primes, bits", formats.chain)
LOG_QP = Column(
    "log_qp",
    "log2(QP)",
    formats.bits,
    is_number=True,
    short="log QP",
    brief=formats.rounded,
    heading=_chain,
)
SECURITY_2018 = Column(
    "security_2018",
    "Security (2018)",
    formats.level,
    short="2018",
    brief=short_level,
    heading=lambda row: f"{formats.level_or_unknown(row['security_2018'])} (2018)",
)
SECURITY_2024 = Column(
    "security_2024",
    "Security (2024)",
    formats.level,
    short="2024",
    brief=short_level,
    heading=lambda row: f"{formats.level_or_unknown(row['security_2024'])} (2024)",
)
STATUS = Column("status", "Outcome")
REASON = Column("error", "Reason", formats.text)
PEAK = Column(
    "peak_bytes", "Peak memory", formats.size, is_number=True, short="peak", brief=formats.megabytes
)
INTERVAL = (
    Column("ci_low", "95 % from", formats.seconds, is_number=True),
    Column("ci_high", "to", formats.seconds, is_number=True),
)
RATIO_INTERVAL = (
    Column("ci_low", "95 % from", formats.digits, is_number=True),
    Column("ci_high", "to", formats.digits, is_number=True),
)
PLACE = ("scheme", "security_2018", "ring_dimension", "operation", "variant")  # what readers choose by
VECTOR = ("size", "data_pattern", "threads")
