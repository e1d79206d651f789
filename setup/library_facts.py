"""Build facts of an installed library: from our own record, from a CMake cache next to it, or from its binary.

They are stored next to each native module of ours as ``<module>.library.json``: names and texts, which the adapter
reports. Unknown facts are marked as unknown. Names are those of ``ciphermark_adapters.provenance``.
"""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from places import ADAPTERS

sys.path.append(str(ADAPTERS.parent))  # these two have no installed requirements

from ciphermark_adapters import binaries, provenance

RECORD = "ciphermark-library.json"
# Options that name inputs or outputs, with or without a separate word after them.
_WITH_A_PLACE = ("-o", "-c", "-isystem", "-I", "-MF", "-MT", "-MQ")
_DEFINITIONS = ("-DNDEBUG",)  # the definitions that change the code of every library


def record(prefix: Path, binary: Path, build: Path, parts: Mapping[str, str]) -> None:
    """Record in a prefix how its library was compiled, from the commands of its build folder.

    ``parts`` names the libraries in it, each by a part of the paths of its sources; the first is the library itself.
    """
    commands = json.loads((build / "compile_commands.json").read_text())
    facts = {
        provenance.BINARY: binaries.digest(binary),
        provenance.TOLD_BY: "the commands of the setup's own build",
    }
    for number, (part, piece) in enumerate(parts.items()):
        of_part = [
            shlex.split(entry["command"])
            for entry in commands
            if piece in entry["file"] and entry["file"].endswith(".cpp")
        ]
        suffix = f" of {part}" if number else ""
        if of_part:
            facts[f"{provenance.COMPILER}{suffix}"] = "; ".join(
                sorted({_version(words[0]) for words in of_part})
            )
            facts[f"{provenance.FLAGS}{suffix}"] = "; ".join(sorted({flags(words) for words in of_part}))
    (prefix / RECORD).write_text(json.dumps(facts, indent=2))


def is_recorded(prefix: Path, binary: Path) -> bool:
    """Return whether the prefix has a record of exactly this binary."""
    return binary.is_file() and bool(_recorded(prefix, binary))


def facts(prefix: Path, binary: Path) -> dict[str, str]:
    """Return all known build facts of the library at a prefix."""
    return {**provenance.of_binary(binary), **_cached(prefix), **_recorded(prefix, binary)}


def write(facts_: Mapping[str, str], site_packages: Path, module: str) -> None:
    """Write a library's build facts next to a native module."""
    (site_packages / f"{module}{provenance.SUFFIX}").write_text(json.dumps(dict(facts_), indent=2))


def flags(words: Iterable[str]) -> str:
    """Return the options of a compiler's command line, without paths and outputs."""
    options = []
    rest = iter(list(words)[1:])
    for word in rest:
        if word in _WITH_A_PLACE:
            next(rest, None)
        elif word in _DEFINITIONS or (word.startswith("-") and not word.startswith(("-D", *_WITH_A_PLACE))):
            options.append(word)
    return " ".join(options) or "none"


def _recorded(prefix: Path, binary: Path) -> dict[str, str]:
    """Return our own record; an empty one if it is of another binary."""
    try:
        facts: dict[str, str] = json.loads((prefix / RECORD).read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return facts if facts.get(provenance.BINARY) == binaries.digest(binary) else {}


def _cached(prefix: Path) -> dict[str, str]:
    """Return the facts in CMake's cache, if the prefix is a build folder."""
    cache = prefix / "CMakeCache.txt"
    if not cache.is_file():
        return {}
    entries = dict(re.findall(r"^(\w+):\w+=(.*)$", cache.read_text(errors="replace"), re.MULTILINE))
    kind = entries.get("CMAKE_BUILD_TYPE", "")
    own = entries.get(f"CMAKE_CXX_FLAGS_{kind.upper()}", "") if kind else ""
    options = f"{entries.get('CMAKE_CXX_FLAGS', '')} {own}".split()
    compiler = entries.get("CMAKE_CXX_COMPILER", "")
    return {
        provenance.FLAGS: " ".join(options) or "none",
        provenance.TOLD_BY: "the CMake cache of its build folder",
        **({provenance.COMPILER: _version(compiler)} if compiler else {}),
    }


def _version(compiler: str) -> str:
    """Return the first line of the compiler's version text, or its name without one."""
    try:
        answer = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return compiler
    return answer.stdout.partition("\n")[0] or compiler
