"""The host of a run, as label and text. Pure."""

from __future__ import annotations

from ciphermark_present import formats
from ciphermark_present.query import Row

_UNKNOWN = "cannot be read"


def facts(row: Row) -> list[tuple[str, str]]:
    """What of a host bears on times; ``row`` is one of the block ``run_facts``."""
    return [
        ("Started (UTC)", formats.moment(row["started_at"])),
        ("Host", row["hostname"]),
        ("CPU", f"{row['cpu_model']}, {row['cores']} cores"),
        ("AVX512-IFMA", formats.yes("avx512ifma" in row["cpu_flags"])),
        ("Memory", formats.size(row["memory_bytes"])),
        ("System", f"{row['operating_system']}, {row['kernel']}"),
        ("Container", formats.text(row["container"])),
        ("Governor", row["governor"] or _UNKNOWN),
        ("Turbo", _switch(row["turbo"])),
        ("SMT", _switch(row["smt"])),
        ("Clock source", row["clock_source"] or _UNKNOWN),
        ("Variation of equal work", formats.share(row["host_clock_noise"])),
        ("Load at the start", formats.digits(row["host_load_1min"])),
        ("Ciphermark", row["software_version"]),
        ("Seed", str(row["seed"])),
    ]


def _switch(value: bool | None) -> str:
    return _UNKNOWN if value is None else ("on" if value else "off")
