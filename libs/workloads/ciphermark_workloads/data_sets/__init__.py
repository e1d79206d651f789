"""Data sets that are shipped, and the reader of a user's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files

from ciphermark_workloads.data_sets.reader import (
    MOST_BYTES,
    DataSet,
    LabelRule,
    UserDataSet,
    named,
    read,
    take,
)


@cache
def boston() -> DataSet:
    """Boston Housing: 506 census tracts, 13 features; class 1 where homes cost more than the median."""
    return read(_shipped("boston.csv"), "boston", "median")


@cache
def breast_cancer() -> DataSet:
    """Breast Cancer Wisconsin (Diagnostic): 569 tumours, 30 features; class 1 is benign."""
    return read(_shipped("breast_cancer.csv"), "breast-cancer", "binary")


DATA_SETS: Mapping[str, Callable[[], DataSet]] = {"boston": boston, "breast-cancer": breast_cancer}


def _shipped(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


__all__ = ["DATA_SETS", "MOST_BYTES", "DataSet", "LabelRule", "UserDataSet", "named", "read", "take"]
