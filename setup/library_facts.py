"""How an installed library was made: by our own record, by a CMake cache beside it, or by what its binary tells.

What is known lies beside each native module of ours as ``<module>.library.json``: names and texts, which the adapter
repeats. What cannot be known is said to be so. The words are those of ``ciphermark_adapters.provenance``.
"""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from places import ADAPTERS

sys.path.append(str(ADAPTERS.parent))  # these two need nothing that is installed

from ciphermark_adapters import binaries, provenance

RECORD = "ciphermark-library.json"
# Options that say where something is or what is made of it, with the word after them or without.
_WITH_A_PLACE = ("-o", "-c", "-isystem", "-I", "-MF", "-MT", "-MQ")
_DEFINITIONS = ("-DNDEBUG",)  # of definitions, what changes the code of every library


def record(prefix: Path, binary: Path, build: Path, parts: Mapping[str, str]) -> None:
    """Write into a prefix how its library was compiled, by the commands of its build folder.

    ``parts`` names the libraries in it, each by a piece of the paths of its sources; the first is the library itself.
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
    """Tell whether the prefix has a record, of just this binary."""
    return binary.is_file() and bool(_recorded(prefix, binary))


def facts(prefix: Path, binary: Path) -> dict[str, str]:
    """Return all that is known of how the library at a prefix was made."""
    return {**provenance.of_binary(binary), **_cached(prefix), **_recorded(prefix, binary)}


def write(facts_: Mapping[str, str], site_packages: Path, module: str) -> None:
    """Lay what is known of its library beside a native module."""
    (site_packages / f"{module}{provenance.SUFFIX}").write_text(json.dumps(dict(facts_), indent=2))


def flags(words: Iterable[str]) -> str:
    """Return the options of a compiler's command line, without places and what is made."""
    options = []
    rest = iter(list(words)[1:])
    for word in rest:
        if word in _WITH_A_PLACE:
            next(rest, None)
        elif word in _DEFINITIONS or (word.startswith("-") and not word.startswith(("-D", *_WITH_A_PLACE))):
            options.append(word)
    return " ".join(options) or "none"


def _recorded(prefix: Path, binary: Path) -> dict[str, str]:
    """Return our own record; none where it is of another binary."""
    try:
        facts: dict[str, str] = json.loads((prefix / RECORD).read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return facts if facts.get(provenance.BINARY) == binaries.digest(binary) else {}


def _cached(prefix: Path) -> dict[str, str]:
    """Return what the cache of CMake says, where the prefix is a build folder."""
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
    """Return the compiler's first line about itself, or its name where it tells none."""
    try:
        answer = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return compiler
    return answer.stdout.partition("\n")[0] or compiler
