"""Whether builds with Intel HEXL can be measured on this CPU: where not, runs tell why, and tests expect that."""

from __future__ import annotations

from ciphermark_adapters import registry
from ciphermark_core import host

REASON = registry.availability("seal-hexl", frozenset(host.collect().cpu_flags)).reason or ""
HAS_HEXL = "this CPU" not in REASON
