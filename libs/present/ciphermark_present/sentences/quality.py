"""Sentences about noise, depth, memory, bytes, operations in a row and learning. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

from ciphermark_present.answer import Row
from ciphermark_present.formats import bits, level, seconds, share, size
from ciphermark_present.sentences.times import place


def noise(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """What the dearest operation costs in bits, on average over the operations in a row, at the largest N."""
    largest = max(row["ring_dimension"] for row in every)
    here = [row for row in every if row["ring_dimension"] == largest]
    costs = [cost for rows in _grouped(here, "operation", "variant", "modulus_bits") if (cost := _cost(rows))]
    if not costs:
        return
    operation = max(costs, key=lambda cost: cost["bits"])["operation"]
    told = _range([cost for cost in costs if cost["operation"] == operation], "bits", bits)
    yield (
        f"Noise, {place(parameters)}, N = {largest}: of the operations tried in a row, {operation} takes the most "
        f"bits of {here[0]['meaning']} each: on average {told}."
    )


def bits_left(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """After which operation the fewest bits are left, at the largest N."""
    largest = max(row["ring_dimension"] for row in every)
    here = [row for row in every if row["ring_dimension"] == largest]
    least = min(here, key=lambda row: float(row["bits"]))
    same = [row for row in here if all(row[name] == least[name] for name in ("operation", "meaning"))]
    yield (
        f"Bits left, {place(parameters)}, N = {largest}: after one operation the least {least['meaning']} is left by "
        f"{least['operation']}, {_range(same, 'bits', bits)}."
    )


def depth(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """The most operations in a row that decrypt right, by operation, with the variants that reach it."""
    known = [row for row in every if row["depth"] is not None]
    told = []
    for rows in _grouped(known, "operation"):
        most = max(row["depth"] for row in rows)
        best = [row for row in rows if row["depth"] == most]
        mark = "at least " if any(row["is_capped"] for row in best) else ""
        rings = " or ".join(str(ring) for ring in sorted({row["ring_dimension"] for row in best}))
        told.append(f"{mark}{most:,.0f} {rows[0]['operation']} ({_names(best)}; N = {rings})")
    if told:
        yield f"Depth, {place(parameters)}: the most in a row that decrypt right are {'; '.join(told)}."


def repetitions(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """The longest chain of each operation that was executed, and who has the least median time for it."""
    timed = [row for row in every if row["median"] is not None]
    told = []
    for rows in _grouped(timed, "operation"):
        longest = max(row["repetitions"] for row in rows)
        best = min(
            (row for row in rows if row["repetitions"] == longest), key=lambda row: float(row["median"])
        )
        where = f"{best['variant']}, N = {best['ring_dimension']}"
        told.append(f"{longest:,} {best['operation']} in {seconds(best['median'])} ({where})")
    if told:
        yield f"In a row, {place(parameters)}: the most, with the least median time: {'; '.join(told)}."


def memory(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """Who takes how much for the operation with the highest peak."""
    peak = max(every, key=lambda row: float(row["peak_bytes"]))
    same = ("operation", "ring_dimension", "size")
    here = [row for row in every if all(row[name] == peak[name] for name in same)]
    yield (
        f"Peak memory, {place(parameters)}, is highest for {peak['operation']} at N = {peak['ring_dimension']} with "
        f"{peak['size']} elements: {_range(here, 'peak_bytes', size)}."
    )


def sizes(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """Bytes of a ciphertext, or what else was written, and of the largest object, at the largest N."""
    largest = max(row["ring_dimension"] for row in every)
    here = [row for row in every if row["ring_dimension"] == largest]
    biggest = max(here, key=lambda row: float(row["bytes"]))["object"]
    told = [
        f"{name} {_range(rows, 'bytes', size)}"
        for name in dict.fromkeys(("ciphertext", biggest))
        if (rows := [row for row in here if row["object"] == name])
    ]
    yield f"Bytes, {place(parameters)}, N = {largest}, every way of compression: {'; '.join(told)}."


def learning(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """How right encrypted learning is, by data set; then, by workload and level, who trains and infers fastest."""
    secure = [row for row in every if row["status"] == "ok" and row["security_2018"] is not None]
    known = [row for row in secure if row["agreement"] is not None]
    differing = [row for row in known if row["agreement"] < 1]
    data_set = parameters["data_set"]
    if known and not differing:
        yield f"{data_set}: on encrypted data every workload gives each row its class in the clear (median of passes)."
    for rows in _grouped(differing, "operation"):
        wrong = _range(rows, "agreement", share)
        yield f"{data_set}: {rows[0]['operation']} gives some rows another class than in the clear; agreement {wrong}."
    for rows in _grouped(secure, "operation", "security_2018"):
        first = rows[0]
        accurate = [row for row in rows if row["accuracy"] is not None]
        told = [f"accuracy {_range(accurate, 'accuracy', share)}"] if accurate else []
        told += [*_fastest(rows, "train_s", "training"), *_fastest(rows, "infer_s", "inference")]
        yield f"{first['operation']} on {data_set} at {level(first['security_2018'])} (2018): {'; '.join(told)}."


def _fastest(rows: Sequence[Row], column: str, word: str) -> list[str]:
    known = [row for row in rows if row[column] is not None]
    if not known:
        return []
    best = min(known, key=lambda row: float(row[column]))
    return [f"least median time of {word} {seconds(best[column])} ({best['variant']}, {best['scheme']})"]


def _cost(rows: Sequence[Row]) -> dict[str, Any] | None:
    """Bits that one operation takes on average, of the rows of one operation, variant and chain."""
    known = sorted((row for row in rows if row["bits"] is not None), key=lambda row: int(row["repetitions"]))
    if len(known) < 2:
        return None
    first, last = known[0], known[-1]
    lost = (first["bits"] - last["bits"]) / (last["repetitions"] - first["repetitions"])
    return {"operation": first["operation"], "variant": first["variant"], "bits": lost}


def _range(rows: Sequence[Row], column: str, write: Callable[[Any], str]) -> str:
    """The least and the greatest with their variants, or the one value that all have when written."""
    least, greatest = min(row[column] for row in rows), max(row[column] for row in rows)
    low = [row for row in rows if write(row[column]) == write(least)]
    high = [row for row in rows if write(row[column]) == write(greatest)]
    if write(least) == write(greatest):
        return f"{write(least)} ({_names(low)})"
    return f"{write(least)} ({_names(low)}) to {write(greatest)} ({_names(high)})"


def _names(rows: Sequence[Row]) -> str:
    return ", ".join(sorted({str(row["variant"]) for row in rows}))


def _grouped(rows: Sequence[Row], *names: str) -> list[list[Row]]:
    def key(row: Row) -> str:
        return repr([row[name] for name in names])

    return [list(group) for _, group in groupby(sorted(rows, key=key), key=key)]
