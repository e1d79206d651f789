"""Cases of a plan in the words of a suite: as a table, and as JSON. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from ciphermark_benchmark.suite.plan import PlannedCase
from ciphermark_core.descriptor import DATA_SET, REPETITIONS
from ciphermark_core.model import Case
from ciphermark_present.printed import Head, Printed

_OWN_COLUMNS = (DATA_SET.name, REPETITIONS.name)


def _ring(case: Case) -> str:
    return "smallest" if case.parameters.ring_dimension_is_minimum else str(case.parameters.ring_dimension)


def _operation(case: Case) -> str:
    """With how often, or with the options of a workload."""
    count = REPETITIONS.of(case.dimensions)
    options = {name: value for name, value in case.dimensions.items() if name not in _OWN_COLUMNS}
    text = case.operation if count is None else f"{case.operation} × {count}"
    return f"{text} ({', '.join(f'{name} {value}' for name, value in options.items())})" if options else text


def _chain(case: Case) -> str:
    bits = case.parameters.modulus_bits
    if case.parameters.depth is not None:
        return f"for depth {case.parameters.depth}"
    return "default" if bits is None else ",".join(map(str, bits))


def _scale(case: Case) -> str:
    """The scale of ckks; t of bfv and bgv by its value."""
    scale_bits, modulus = case.parameters.scale_bits, case.parameters.plain_modulus
    return str(modulus or "") if scale_bits is None else f"2^{scale_bits}"


def as_dict(item: PlannedCase) -> dict[str, object]:
    """A case with every field that a suite decides, and why it is skipped."""
    case = item.case
    return {
        "experiment": case.experiment,
        "variant": case.variant,
        "scheme": case.parameters.scheme,
        "ring_dimension": case.parameters.ring_dimension,
        "modulus_bits": case.parameters.modulus_bits,
        "plain_modulus": case.parameters.plain_modulus,
        "scale_bits": case.parameters.scale_bits,
        "depth": case.parameters.depth,
        "ring_dimension_is_minimum": case.parameters.ring_dimension_is_minimum,
        "division": case.parameters.division,
        "secret_distribution": case.parameters.secret_distribution,
        "bootstrapping": case.parameters.bootstrapping and case.parameters.bootstrapping.text,
        "operation": case.operation,
        "repetitions": REPETITIONS.of(case.dimensions),
        "size": case.size,
        "data_pattern": case.data_pattern,
        "data_set": DATA_SET.of(case.dimensions),
        "dimensions": dict(case.dimensions),
        "threads": case.threads,
        "server_mb": item.server_mb,
        "skipped": item.reason,
    }


_COLUMNS: dict[str, Callable[[Case], object]] = {
    "operation": _operation,
    "experiment": lambda case: case.experiment,
    "variant": lambda case: case.variant,
    "scheme": lambda case: case.parameters.scheme,
    "division": lambda case: case.parameters.division,
    "secret": lambda case: case.parameters.secret,
    "bootstrapping": lambda case: case.parameters.bootstrapping and case.parameters.bootstrapping.text,
    "N": _ring,
    "chain": _chain,
    "scale, t": _scale,
    "size": lambda case: case.size,
    "data": lambda case: DATA_SET.of(case.dimensions) or case.data_pattern,
    "threads": lambda case: case.threads,
}
_NUMBERS = {"size", "threads"}
_PROSE = {"operation"}  # with its options
_FIRST_LEFT_OUT = {"threads", "size", "scale, t", "chain", "N"}  # where there is no room for all; data stay


def as_table(planned: Sequence[PlannedCase]) -> Printed:
    """A row per case, by its number; what all of them have in common is said above. Divisions, secrets and
    bootstrapping where any is not the usual one, memory where any case is known to need much, and reasons where
    anything is skipped.
    """
    texts = {name: [str(value(item.case)) for item in planned] for name, value in _COLUMNS.items()}
    for name, usual in (("division", "equal"), ("secret", "None"), ("bootstrapping", "None")):
        if set(texts[name]) == {usual}:
            del texts[name]
    alike = {name: found[0] for name, found in texts.items() if len(found) > 1 and len(set(found)) == 1}
    columns = {name: found for name, found in texts.items() if name not in alike}
    heads = [
        Head("case", is_number=True),
        *(
            Head(name, is_number=name in _NUMBERS, is_prose=name in _PROSE, drop=int(name in _FIRST_LEFT_OUT))
            for name in columns
        ),
    ]
    rows = [(str(number), *row) for number, row in enumerate(zip(*columns.values(), strict=True), 1)]
    if any(item.server_mb for item in planned):
        heads.append(Head("server MB", is_number=True))
        rows = [(*row, str(item.server_mb or "")) for row, item in zip(rows, planned, strict=True)]
    if any(item.reason for item in planned):
        heads.append(Head("skipped", is_prose=True))
        rows = [(*row, item.reason or "") for row, item in zip(rows, planned, strict=True)]
    about = "all cases: " + " · ".join(f"{name} {text}" for name, text in alike.items() if text)
    keys = 2 if "operation" in columns else 1
    return Printed("", about if alike else "", tuple(heads), tuple(rows), keys)


def at_a_glance(planned: Sequence[PlannedCase]) -> list[Printed]:
    """How many cases of each experiment and scheme every variant has, as many of all as are not skipped, and what their
    servers need at most where any is known to need much; and why others are skipped, the most frequent reason first.
    """
    variants = list(dict.fromkeys(item.case.variant for item in planned))
    every = Counter((_place(item), item.case.variant) for item in planned)
    skipped = Counter((_place(item), item.case.variant) for item in planned if item.reason)
    heads = [Head("experiment"), Head("scheme"), *(Head(name, is_number=True) for name in variants)]
    has_memory = any(item.server_mb for item in planned)
    rows = []
    for place in dict.fromkeys(map(_place, planned)):
        counts = (_of(every[place, variant], skipped[place, variant]) for variant in variants)
        most = max(item.server_mb or 0 for item in planned if _place(item) == place)
        rows.append((*place, *counts, *([str(most or "")] * has_memory)))
    heads += [Head("server MB at most", is_number=True)] * has_memory
    found = [Printed("", "cases that are executed, of all", tuple(heads), tuple(rows), keys=2)]
    reasons = Counter((item.case.variant, item.reason) for item in planned if item.reason)
    if reasons:
        told = tuple((str(count), variant, why or "") for (variant, why), count in reasons.most_common())
        why_heads = (Head("cases", is_number=True), Head("variant"), Head("skipped, since", is_prose=True))
        found.append(Printed("", "", why_heads, told, keys=2))
    return found


def _place(item: PlannedCase) -> tuple[str, str]:
    return item.case.experiment, item.case.parameters.scheme


def _of(count: int, lacking: int) -> str:
    if not count:
        return ""
    return f"{count - lacking} of {count}" if lacking else str(count)
