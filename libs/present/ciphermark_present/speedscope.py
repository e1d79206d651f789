"""Call stacks, as probes record them, for speedscope and as shares of functions. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def parsed(text: str) -> Iterator[tuple[list[str], int]]:
    """The frames of every stack, the outermost first, and its number of samples. Lines of another form are left out."""
    for line in text.splitlines():
        frames, _, count = line.rpartition(" ")
        if frames and count.isdecimal():
            yield frames.split(";"), int(count)


def own_shares(text: str) -> dict[str, float]:
    """The share of the samples that are in each function itself, the largest first."""
    counts: Counter[str] = Counter()
    for frames, count in parsed(text):
        counts[frames[-1]] += count
    return {name: count / counts.total() for name, count in counts.most_common()}


def brief(name: str) -> str:
    """The name of a function without its namespaces."""
    return name.rpartition("::")[2] or name


def document(stacks: Mapping[str, str]) -> dict[str, Any]:
    """A file for speedscope: a profile of samples for each of the named stacks."""
    places: dict[str, int] = {}
    profiles = []
    for name, text in stacks.items():
        stacks_of = list(parsed(text))
        samples = [[places.setdefault(frame, len(places)) for frame in frames] for frames, _ in stacks_of]
        weights = [count for _, count in stacks_of]
        profiles.append(
            {
                "type": "sampled",
                "name": name,
                "unit": "none",
                "startValue": 0,
                "endValue": sum(weights),
                "samples": samples,
                "weights": weights,
            }
        )
    return {
        "$schema": _SCHEMA,
        "exporter": "ciphermark",
        "shared": {"frames": [{"name": frame} for frame in places]},
        "profiles": profiles,
    }
