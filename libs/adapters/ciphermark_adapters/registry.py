"""Finds adapters, says what is installed, and loads one on demand.

An adapter is a package with a module ``declaration`` that holds ``DECLARATIONS``. Ours are the folders beside
this file; others are found in the folders that ``CIPHERMARK_ADAPTER_PATH`` lists (separated by ``:``).
A variant may carry a label, ``seal@again``: the same build under another name, for A/A comparisons.
A declaration may name an environment: its library is loaded by that environment's interpreter only.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ciphermark_adapters import interpreters
from ciphermark_contract.declaration import Declaration
from ciphermark_contract.interfaces import Adapter
from ciphermark_core.errors import UserError

PATH_VARIABLE = "CIPHERMARK_ADAPTER_PATH"


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a declared variant can be used on this host; if not, why and what to do."""

    declaration: Declaration
    reason: str | None = None
    remedy: str | None = None

    @property
    def is_installed(self) -> bool:
        """True when nothing stands against using it."""
        return self.reason is None


def declarations() -> dict[str, Declaration]:
    """All declared variants by name, ours first."""
    return _declarations(os.environ.get(PATH_VARIABLE, ""))


@cache
def _declarations(extra_path: str) -> dict[str, Declaration]:
    found: dict[str, Declaration] = {}
    for prefix, folder in _folders(extra_path):
        for module in pkgutil.iter_modules([str(folder)]):
            if module.ispkg and (folder / module.name / "declaration.py").exists():
                if module.name.startswith("_"):
                    continue
                found |= _declared(f"{prefix}{module.name}.declaration", folder / module.name)
    return found


def _declared(module: str, folder: Path) -> dict[str, Declaration]:
    try:
        return {item.variant: item for item in importlib.import_module(module).DECLARATIONS}
    except Exception as error:  # whatever the file does wrong
        told = f"{type(error).__name__}: {error}"
        raise UserError(
            f"{folder / 'declaration.py'} cannot be read: {told}; mend it, or take the folder away"
        ) from error


def _folders(extra_path: str) -> list[tuple[str, Path]]:
    folders = [("ciphermark_adapters.", Path(__file__).parent)]
    for entry in filter(None, extra_path.split(os.pathsep)):
        if entry not in sys.path:
            sys.path.append(entry)
        folders.append(("", Path(entry)))
    return folders


def base_variant(variant: str) -> str:
    """The variant without its label: ``seal@again`` → ``seal``."""
    return variant.partition("@")[0]


def declaration(variant: str) -> Declaration:
    """The declaration of a variant, label or not; raises ``UserError`` for an unknown one."""
    try:
        return declarations()[base_variant(variant)]
    except KeyError:
        known = ", ".join(sorted(declarations()))
        raise UserError(f"unknown variant {variant!r}; known variants: {known}") from None


def availability(variant: str, cpu_flags: frozenset[str]) -> Availability:
    """Whether a declared variant can be loaded here, found out without loading it."""
    declared = declaration(variant)
    missing_isa = [flag for flag in declared.isa if flag not in cpu_flags]
    if missing_isa:
        return Availability(
            declared,
            f"this CPU lacks {', '.join(missing_isa)}",
            "use a host whose CPU has it",
        )
    reason = interpreters.reason_against(declared.environment)
    if reason is not None:
        return Availability(declared, reason, declared.remedy)
    missing = [name for name in declared.requires if not interpreters.has_module(declared.environment, name)]
    if missing:
        return Availability(declared, f"module {', '.join(missing)} is not installed", declared.remedy)
    return Availability(declared)


def interpreter(variant: str) -> str:
    """The interpreter that loads a variant's library; ours for most."""
    return interpreters.executable(declaration(variant).environment)


def is_loadable_here(variant: str) -> bool:
    """Whether this very interpreter is the one that loads the variant's library."""
    return interpreters.is_current(declaration(variant).environment)


def load(variant: str) -> Adapter:
    """Import the adapter's library and make the adapter. Errors of the import pass through.

    Raises ``UserError`` where another interpreter must do it.
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
    return adapter
