"""Columns that several tables have."""

from __future__ import annotations

from ciphermark_dashboards import formats
from ciphermark_dashboards.figures import Column

VARIANT = Column("variant", "Variant")
OPERATION = Column("operation", "Operation")
N = Column("ring_dimension", "N", formats.text, is_number=True)
SIZE = Column("size", "Elements", formats.digits, is_number=True)
DATA = Column("data_pattern", "Data")
THREADS = Column("threads", "Threads", formats.text, is_number=True)
CHAIN = Column("modulus_bits", "Primes, bits", formats.chain)
INTERVAL = (
    Column("ci_low", "95 % from", formats.seconds, is_number=True),
    Column("ci_high", "to", formats.seconds, is_number=True),
)
RATIO_INTERVAL = (
    Column("ci_low", "95 % from", formats.digits, is_number=True),
    Column("ci_high", "to", formats.digits, is_number=True),
)
