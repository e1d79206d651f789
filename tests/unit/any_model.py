"""Any value of the central types, for property tests: made by the types of their fields, new ones as well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import datetime, timezone
from hashlib import sha256
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from msgspec import Meta

from ciphermark_contract.keys import KeyRequest
from ciphermark_core import limits, model

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
words = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf", "Zl", "Zp"]), max_size=20)
names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{5,20}", fullmatch=True)
moments = st.datetimes(datetime(2000, 1, 1), datetime(2199, 12, 31), timezones=st.just(timezone.utc))
numbers = st.floats(allow_nan=False, allow_infinity=False)
sizes = st.integers(0, 2**62)
_OF_TYPE = {
    str: texts,
    float: numbers,
    int: sizes,
    bool: st.booleans(),
    bytes: st.binary(max_size=20),
    type(None): st.none(),
}
_OF_LIMIT = {limits.Word: words, limits.RunName: names, limits.Moment: moments.map(datetime.isoformat)}
_MOST = 3
_steps = st.lists(st.integers(-9, 9), max_size=_MOST).map(tuple)
_OF_TYPE[KeyRequest] = st.builds(KeyRequest.of, st.booleans(), _steps, _steps, st.booleans(), st.booleans())
# Fields that have less than their types say.
_chains = st.lists(st.integers(2, 60), min_size=1, max_size=8).map(tuple)
_primes = st.lists(st.integers(2, 2**60), min_size=1, max_size=6).map(tuple)
_OF_FIELD: dict[tuple[type, str], st.SearchStrategy[Any]] = {
    (model.BootstrappingParameters, "level_budget"): st.tuples(st.integers(1, 5), st.integers(1, 5)),
    (model.BootstrappingParameters, "iterations"): st.integers(1, 2),
    (model.BootstrappingParameters, "precision_bits"): st.none() | st.integers(1, 60),
    (model.ParameterSpec, "ring_dimension"): st.integers(1, 17).map(lambda power: 1 << power),
    (model.ParameterSpec, "modulus_bits"): st.none() | _chains,
    (model.ParameterSpec, "plain_modulus"): st.none() | st.integers(2, 2**60),
    (model.ParameterSpec, "scale_bits"): st.none() | st.integers(10, 60),
    (model.ParameterSpec, "security"): st.sampled_from([0, 128, 192, 256]),
    (model.ParameterSpec, "depth"): st.none() | st.integers(1, 100),
    (model.ParameterSpec, "hamming_weight"): st.none() | st.integers(1, 1024),
    (model.Parameters, "moduli"): _primes,
    (model.Parameters, "special_moduli"): st.just(()) | _primes,
    (model.Case, "dimensions"): st.dictionaries(words, texts | sizes | st.floats(0.1, 0.9), max_size=_MOST),
}


def any_of(hint: Any) -> st.SearchStrategy[Any]:
    """Any value of a type."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _OF_LIMIT[hint] if hint in _OF_LIMIT else _within(*parts)
    if origin is Literal:
        return st.sampled_from(parts)
    if origin in (Union, UnionType):
        return st.one_of(*map(any_of, parts))
    if origin is tuple and parts[1:] != (...,):
        return st.tuples(*map(any_of, parts))
    if origin is tuple:
        return st.lists(any_of(parts[0]), max_size=_MOST).map(tuple)
    if origin in (dict, Mapping):
        return st.dictionaries(*map(any_of, parts), max_size=_MOST)
    if hint in _OF_TYPE:
        return _OF_TYPE[hint]
    hints = get_type_hints(hint, include_extras=True)
    names = [field.name for field in fields(hint)] if is_dataclass(hint) else hint.__struct_fields__
    own = {name: strategy for (kind, name), strategy in _OF_FIELD.items() if kind is hint}
    return st.builds(hint, **{name: any_of(hints[name]) for name in names if name not in own}, **own)


def _within(kind: type, meta: Meta) -> st.SearchStrategy[Any]:
    """Any number within bounds; 2^62 stands for none."""
    least, most = (meta.ge if meta.gt is None else meta.gt), 2**62 if meta.le is None else meta.le
    if kind is int:
        return st.integers(least, most)
    return st.floats(least, most, exclude_min=meta.gt is not None)


_OF_TYPE[model.ProgramUse] = any_of(model.ProgramUse).map(
    lambda use: replace(use, digest=sha256(use.content).hexdigest())
)
cases, outcomes = any_of(model.Case), any_of(model.Outcome)
