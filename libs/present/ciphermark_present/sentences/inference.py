"""Sentences about inference. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ciphermark_present.answer import Row
from ciphermark_present.formats import digits, level, seconds

_PLACE = ("operation", "options", "scheme", "images", "threads", "security_2018")


def predictions(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """Who classifies soonest by each network, for each scheme, level and number of images in a pass."""
    least: dict[tuple[object, ...], Row] = {}
    for row in every:
        place = tuple(row[name] for name in _PLACE)
        if row["infer_s"] is not None and (place not in least or row["infer_s"] < least[place]["infer_s"]):
            least[place] = row
    for row in least.values():
        several = "" if row["images"] == 1 else f", {digits(row['images'])} images in a pass"
        threads = "" if row["threads"] == 1 else f", {row['threads']} threads"
        yield (
            f"{row['operation']} in {row['scheme']} at {level(row['security_2018'])} (2018){several}{threads}: least "
            f"median time {seconds(row['infer_s'])} ({row['variant']}), {digits(row['images_per_s'])} images/s, "
            f"agreement with the network in the clear {row['agreeing']}."
        )
