"""Finds adapters, reports whether they are installed, and loads one on demand.

An adapter is a package with a module ``declaration`` that holds ``DECLARATIONS``. Ours are the folders next to
this file. Others are installed packages that name their package under the entry point ``ciphermark.adapters``, or
folders in the list ``CIPHERMARK_ADAPTER_PATH`` (separated by ``:``).
A variant may carry a label, ``seal@again``: the same build under another name, for A/A comparisons.
A declaration may name an environment: its library is loaded by that environment's interpreter only.
Users' builds (:mod:`ciphermark_adapters.added`) are additional variants.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import entry_points
from pathlib import Path

from ciphermark_adapters import added, interpreters
from ciphermark_adapters.residues import ResidueAdapter
from ciphermark_contract.declaration import Declaration
from ciphermark_contract.interfaces import Adapter
from ciphermark_core import names
from ciphermark_core.errors import UserError

PATH_VARIABLE = "CIPHERMARK_ADAPTER_PATH"
ENTRY_POINTS = "ciphermark.adapters"


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a declared variant can be used on this host; if not, the reason and the remedy."""

    declaration: Declaration
    reason: str | None = None
    remedy: str | None = None

    @property
    def is_installed(self) -> bool:
        """Whether there is no reason against using it."""
        return self.reason is None


def declarations() -> dict[str, Declaration]:
    """All declared variants by name: ours first, users' builds last."""
    return _with_added(os.environ.get(PATH_VARIABLE, ""), str(added.builds_folder()), added.state())


@cache
def shipped() -> dict[str, Declaration]:
    """The declared variants of the folders next to this file."""
    return _in_folder("ciphermark_adapters.", Path(__file__).parent)


@lru_cache(maxsize=1)
def _with_added(extra_path: str, _builds_folder: str, _state: object) -> dict[str, Declaration]:
    """Cached until a build is added or removed."""
    return _declarations(extra_path) | added.declarations(shipped())


@cache
def _declarations(extra_path: str) -> dict[str, Declaration]:
    variants = shipped() | _installed()
    for entry in filter(None, extra_path.split(os.pathsep)):
        if entry not in sys.path:
            sys.path.append(entry)
        variants |= _in_folder("", Path(entry))
    return variants


def _installed() -> dict[str, Declaration]:
    """Variants of installed packages: ``mylib = "mylib"`` under the entry point names the package ``mylib``."""
    variants: dict[str, Declaration] = {}
    for point in entry_points(group=ENTRY_POINTS):
        source = f"the adapter {point.name} of {point.dist.name if point.dist else 'an installed package'}"
        variants |= _declared(f"{point.value}.declaration", source, "repair or uninstall it")
    return variants


def _in_folder(prefix: str, folder: Path) -> dict[str, Declaration]:
    variants: dict[str, Declaration] = {}
    for module in pkgutil.iter_modules([str(folder)]):
        path = folder / module.name / "declaration.py"
        if module.ispkg and path.exists() and not module.name.startswith("_"):
            name = f"{prefix}{module.name}.declaration"
            variants |= _declared(name, str(path), "repair it, or remove the folder")
    return variants


def _declared(module: str, source: str, remedy: str) -> dict[str, Declaration]:
    try:
        return {item.variant: item for item in importlib.import_module(module).DECLARATIONS}
    except Exception as error:  # any fault of the file
        raise UserError(f"{source} cannot be read: {type(error).__name__}: {error}; {remedy}") from error


def base_variant(variant: str) -> str:
    """The variant without its label: ``seal@again`` → ``seal``."""
    return variant.partition("@")[0]


def declaration(variant: str) -> Declaration:
    """The declaration of a variant, with or without a label; raises ``UserError`` for an unknown one or a bad label."""
    base, sign, label = variant.partition("@")
    if sign:
        names.required(label, f"a label of the variant {base[:80]!a}")
    try:
        return declarations()[base_variant(variant)]
    except KeyError:
        known_names = ", ".join(sorted(declarations()))
        raise UserError(f"unknown variant {variant!r}; known variants: {known_names}") from None


def availability(variant: str, cpu_flags: frozenset[str]) -> Availability:
    """Whether a declared variant can be loaded here, checked without loading it."""
    declared = declaration(variant)
    missing_isa = [flag for flag in declared.isa if flag not in cpu_flags]
    if missing_isa:
        return Availability(
            declared, f"this CPU lacks {', '.join(missing_isa)}", "use a host whose CPU has it"
        )
    against = added.reason_against(declared.variant)
    if against is not None:
        return Availability(declared, *against)
    reason = interpreters.reason_against(declared.environment)
    if reason is not None:
        return Availability(declared, reason, declared.remedy)
    if added.read(added.builds_folder() / declared.variant) is not None:
        return Availability(declared)  # its modules were loaded when it was added
    missing = [name for name in declared.requires if not interpreters.has_module(declared.environment, name)]
    if missing:
        absence = f"module {', '.join(missing)} is not installed", declared.remedy
        fault = declared.installation(None) if declared.installation else None
        return Availability(declared, *(fault or absence))
    return Availability(declared)


def interpreter(variant: str) -> str:
    """The interpreter that loads a variant's library; for most variants, ours."""
    return interpreters.executable(declaration(variant).environment)


def is_loadable_here(variant: str) -> bool:
    """Whether this interpreter is the one that loads the variant's library."""
    return interpreters.is_current(declaration(variant).environment)


def load(variant: str) -> Adapter:
    """Import the adapter's library and create the adapter. Import errors are raised unchanged.

    Raises ``UserError`` where another interpreter has to load it.
    """
    declared = declaration(variant)
    if not is_loadable_here(variant):
        raise UserError(
            f"{declared.library} is loaded by an interpreter of its own: start {interpreter(variant)} instead of "
            f"{sys.executable}"
        )
    module, _, name = declared.implementation.partition(":")
    implementation = getattr(importlib.import_module(module), name)
    adapter: Adapter = implementation(declared)
    return ResidueAdapter(adapter, is_sequential=not declared.programs_have_threads)
