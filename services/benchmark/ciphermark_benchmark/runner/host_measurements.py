"""What runs of this host have measured, for estimates: cost tables, and times of keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import reduce
from operator import or_
from statistics import median
from typing import Any

from ciphermark_adapters import registry
from ciphermark_benchmark import predicting, storage
from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.runner import reference_kernel_baseline
from ciphermark_benchmark.suite import estimate, typical
from ciphermark_contract.keys import NO_KEYS
from ciphermark_contract.operations import OPERATIONS, read
from ciphermark_core.errors import UserError
from ciphermark_core.run import Host
from ciphermark_db import embedded
from ciphermark_db.database import Database, DatabaseUnavailable
from ciphermark_model.interpolation import Costs
from ciphermark_model.prediction import switching
from ciphermark_model.sizes import Format

_MIN_WORKERS = 3  # whose keys yield a factor


def of_host(data_directory: DataDirectory, host: Host, variants: Iterable[str]) -> estimate.Measured:
    """The measurements of these variants; nothing without a database, or while it does not answer."""
    if data_directory.database_url is None and not embedded.exists(data_directory.folder):
        return estimate.NOTHING
    names = dict.fromkeys(map(registry.base_variant, variants))
    level_ns = reference_kernel_baseline.remembered(data_directory.folder, host.cpu_model)
    costs: dict[str, Costs] = {}
    try:
        with storage.connected(data_directory) as database:
            for name in names:
                with suppress(UserError):  # no table of this host
                    table = predicting.cost_table(
                        database, host, name, reference_kernel_s=level_ns and level_ns / 1e9
                    )
                    costs[name] = Costs(table)
            return estimate.Measured(costs, _key_factors(database, host))
    except (DatabaseUnavailable, UserError):
        return estimate.NOTHING


def _key_factors(database: Database, host: Host) -> dict[str, float]:
    """The median of measured over typical times of keys, by variant."""
    factors: dict[str, list[float]] = {}
    for row in database.report("key_times", fingerprint=host.fingerprint):
        with suppress(KeyError):  # a variant that this program lacks
            factors.setdefault(row["variant"], []).append(_key_factor(row))
    return {name: median(values) for name, values in factors.items() if len(values) >= _MIN_WORKERS}


def _key_factor(row: Mapping[str, Any]) -> float:
    declared, parameters = registry.declaration(row["variant"]), predicting.shaped(row)
    known = (name for name in row["operations"] if name.partition("(")[0] in OPERATIONS)
    keys = reduce(or_, (read(name).managed_keys for name in known), NO_KEYS)
    keys = keys.of_kinds(declared.key_kinds(parameters.spec.scheme)) if parameters.special_moduli else NO_KEYS
    key_bytes = Format.of(declared, parameters, switching(declared, parameters)).keys(keys)
    usual_s = typical.keys_s(parameters.ring_dimension, len(parameters.moduli), key_bytes)
    return float(row["keys_s"]) / usual_s
