"""Rows of the figures that are computed from several results: growth, noise, profiles, links, security, threads."""

from __future__ import annotations

from typing import Any

from ciphermark_present import noise_lines
from ciphermark_present.catalogue import (
    costs,
    distribution,
    profile,
    scaling,
    security_map,
    thread_counts,
    whole_cost,
)
from ciphermark_present.query import Answer

Rows = list[dict[str, Any]]
PLACE: dict[str, Any] = {
    "run_id": "r",
    "case_info_id": 1,
    "operation": "mul",
    "label": "mul",
    "options": None,
    "scheme": "bfv",
    "ring_dimension": 8192,
    "modulus_bits": [43, 43, 44, 44, 44],
    "log_qp": 218.0,
    "vector_length": 8192,
    "security_2018": 128,
    "security_2024": 0,
    "comparison_group": "c",
    "parameter_set_id": "p",
    "tuning": "matched",
    "data_pattern": "random",
    "threads": 1,
    "dimensions": {},
    "repetitions": None,
    "phase": "evaluate",
    "stage": "evaluate",
    "party": None,
    "step": None,
    "metric": "time",
    "unit": "s",
    "n": 16,
    "undisturbed_share": 1.0,
    "slowdown": 1.0,
    "disturbed_times": [],
    "encryption": "public key",
    "request_but_threads": "{}",
}


def row(variant: str = "seal", median: float | None = 1.0, **columns: Any) -> dict[str, Any]:
    """A result of a variant; its interval is ± 10%."""
    ends = (
        {"ci_low": None, "ci_high": None}
        if median is None
        else {"ci_low": 0.9 * median, "ci_high": 1.1 * median}
    )
    return {"variant": variant, **PLACE, "median": median, **ends, **columns}


def answer(rows: Rows) -> Answer:
    return Answer(tuple(rows[0]), [tuple(each.values()) for each in rows])


def grown(variant: str, power: float, **columns: Any) -> Rows:
    """Times at five N that grow with a power of N."""
    return [
        row(
            variant,
            1e-9 * ring**power,
            ring_dimension=ring,
            vector_length=ring,
            comparison_group=f"{ring}",
            **columns,
        )
        for ring in (2048, 4096, 8192, 16384, 32768)
    ]


def series(*rows: dict[str, Any]) -> Rows:
    return scaling.with_exponents(answer(list(rows)), {}).mappings


def spent(variant: str = "seal", case: int = 1, factor: float = 1.0, **columns: Any) -> Rows:
    """The times of a workload's pass: 10 s of training, 2 s of inference, and preparation before."""
    times: dict[tuple[str, str | None, str | None], float] = {
        ("prepare", None, None): 50.0,
        ("prepare", "client", None): 50.0,
        ("train", None, None): 10.0,
        ("train", "client", None): 4.0,
        ("train", None, "encrypt"): 3.0,
        ("train", None, "serialize"): 1.5,
        ("train", "server", None): 5.5,
        ("train", None, "evaluate"): 5.0,
        ("train", None, "transfer"): 0.25,
        ("train", None, "check"): 99.0,
        ("infer", None, None): 2.0,
        ("infer", "client", None): 1.0,
        ("infer", None, "decrypt"): 1.0,
        ("infer", "server", None): 1.0,
        ("infer", None, "evaluate"): 1.0,
    }
    rows = [
        row(variant, factor * time, stage=stage, party=party, step=step, case_info_id=case, **columns)
        for (stage, party, step), time in times.items()
    ]
    layer = {"metric": "layer_time", "stage": "infer", "step": "dense", "case_info_id": case}
    return [*rows, row(variant, factor * 0.75, **layer, **columns)]


def profiled(*rows: dict[str, Any]) -> Rows:
    return profile.with_places(answer(list(rows)), {}).mappings


def passing(variant: str, work_s: float, moved: float, **columns: Any) -> dict[str, Any]:
    """A pass with its work and its bytes."""
    ends = {"ci_low": 0.9 * work_s, "ci_high": 1.1 * work_s}
    size = {"upload": moved / 2, "download": moved / 2, "moved": moved, "keys_size": 1e7}
    costs = {
        "client_s": work_s / 4,
        "server_s": 3 * work_s / 4,
        "max_error": 0.0,
        "inputs": 1,
        "data_set": None,
    }
    peaks = {"client_peak_bytes": 2e8, "server_peak_bytes": None}
    return row(variant, work_s=work_s, **size | costs | peaks | ends | columns)


def threaded(variant: str, **medians: float) -> Rows:
    """A case with several numbers of threads: ``t1``, ``t2``, …"""
    return [row(variant, median, threads=int(name[1:])) for name, median in medians.items()]


def sped(*rows: dict[str, Any]) -> Rows:
    return thread_counts.with_speedups(answer(list(rows)), {}).mappings


def sampled(variant: str, values: list[float], **columns: Any) -> Rows:
    """Samples of a case, the last of which is disturbed."""
    common: dict[str, Any] = {"phase": "evaluate", "is_warmup": False, "slowdown": 1.0}
    return [
        {"variant": variant, "value": value, "is_disturbed": value == values[-1], **common, **columns}
        for value in values
    ]


def distributed(*rows: dict[str, Any]) -> Rows:
    return distribution.with_quantiles(answer(list(rows)), {}).mappings


def state(variant: str, repetitions: int, bits: float, **columns: Any) -> dict[str, Any]:
    """Remaining bits after some operations, of a search up to 16."""
    place = {"dimensions": {"max_repetitions": 16}, "meaning": "noise budget"}
    return row(variant, **{**place, "repetitions": repetitions, "bits": bits, **columns})


def cost(variant: str, level: int, median: float, **columns: Any) -> dict[str, Any]:
    """The cost of an operation at a level of a chain with four."""
    place = {"level": level, "top_level": 3, "residency": "cached", "comparison_group": f"level {level}"}
    return row(variant, median, **place | columns)


PAIR = ("seal", "tenseal")
CHARTS = {
    "costs": (
        costs.draw_costs,
        [
            cost(name, level, 0.001 * (level + 1) ** power)
            for power, name in enumerate(PAIR, 1)
            for level in range(4)
        ],
    ),
    "noise": (
        noise_lines.draw,
        [state(name, count, 90.0 - 40 * count) for name in PAIR for count in (0, 1, 2)],
    ),
    "scaling": (scaling.draw_growth, series(*grown("seal", 1.1), *grown("tenseal", 1.3))),
    "profile": (profile.draw_profile, profiled(*spent())),
    "whole cost": (whole_cost.draw_links, [passing("seal", 1.0, 1e6), passing("tenseal", 2.0, 1e5)]),
    "security map": (
        security_map.draw_map,
        [row(name, ring_dimension=ring, cases=3) for name in PAIR for ring in (8192, 16384)],
    ),
    "threads": (
        thread_counts.draw_speedups,
        sped(*threaded("seal", t1=4.0, t2=2.5, t4=1.5), *threaded("tenseal", t1=4.0, t2=2.1)),
    ),
    "distribution": (distribution.draw_distribution, distributed(*sampled("seal", [1.0, 1.1, 1.2, 9.0]))),
}
WITHOUT_LEGEND = {
    "costs",
    "profile",
    "scaling",
    "threads",
    "whole cost",
}  # of one library, or with names at the ends of lines
