"""Builds of the user's own, as the setup takes them: what speaks against a prefix, and what is told of a library."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

SETUP = Path(__file__).resolve().parents[2] / "setup"
CONFIG = """set(SEAL_VERSION 4.1.1)
set(SEAL_DEBUG OFF)
set(SEAL_BUILD_TYPE Release)
set(SEAL_USE_ZLIB ON)
set(SEAL_USE_ZSTD ON)
set(SEAL_USE_INTEL_HEXL OFF)
"""
LIMITS = """#define SEAL_USER_MOD_BIT_COUNT_MAX 60
#define SEAL_COEFF_MOD_COUNT_MAX 64
#define SEAL_POLY_MOD_DEGREE_MAX 131072
"""
PLACES = {
    "config": "lib/cmake/SEAL-4.1/SEALConfig.cmake",
    "library": "lib/libseal-4.1.a",
    "headers": "include/SEAL-4.1/seal/seal.h",
    "version": "include/SEAL-4.1/seal/util/config.h",
    "limits": "include/SEAL-4.1/seal/util/defines.h",
}


@pytest.fixture
def recipes(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(SETUP))
    before = set(sys.modules)
    import recipes

    yield recipes
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    """An installed SEAL, as far as looking goes: its library is this Python, which is for this machine."""
    texts = {
        "config": CONFIG,
        "headers": "",
        "version": '#define SEAL_VERSION "4.1.1"\n',
        "limits": LIMITS,
    }
    for name, place in PLACES.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        if name in texts:
            (tmp_path / place).write_text(texts[name])
    shutil.copyfile(Path(sys.executable).resolve(), tmp_path / PLACES["library"])
    return tmp_path


def replaced(name: str, old: str, new: str) -> Callable[[Path], None]:
    def change(prefix: Path) -> None:
        path = prefix / PLACES[name]
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))

    return change


def removed(name: str) -> Callable[[Path], None]:
    return lambda prefix: (prefix / PLACES[name]).unlink()


def for_another_machine(prefix: Path) -> None:
    data = bytearray((prefix / PLACES["library"]).read_bytes())
    data[18:20] = (3).to_bytes(2, "little")  # x86, of 32 bits
    (prefix / PLACES["library"]).write_bytes(bytes(data))


AGAINST = {
    "nothing there": (removed("config"), "there is no SEAL in"),
    "another version": (replaced("config", "4.1.1", "4.0.0"), "is 4.0.0"),
    "a version that only begins alike": (replaced("config", "4.1.1", "4.10.1"), "is 4.10.1"),
    "no headers": (removed("headers"), "has no headers"),
    "headers of another version": (replaced("version", "4.1.1", "4.1.2"), "its headers are of 4.1.2"),
    "no library": (removed("library"), "has no library"),
    "another machine": (for_another_machine, "is for x86"),
    "a debug build": (replaced("config", "Release", "Debug"), "debug build"),
    "no zlib": (replaced("config", "ZLIB ON", "ZLIB OFF"), "lacks compression with zlib"),
    "no zstd": (replaced("config", "ZSTD ON", "ZSTD OFF"), "lacks compression with zstd"),
    "short chains": (replaced("limits", "COUNT_MAX 64", "COUNT_MAX 16"), "16 primes of a chain at most"),
    "no limits": (removed("limits"), "an unknown number of primes"),
}


@pytest.mark.parametrize("name", AGAINST)
def test_what_speaks_against_a_prefix_is_told(recipes: ModuleType, prefix: Path, name: str) -> None:
    change, said = AGAINST[name]
    change(prefix)
    with pytest.raises(sys.modules["runner"].FailureError, match=re.escape(said)) as failure:
        recipes.load("seal").installed(prefix)
    assert failure.value.advice
    assert str(prefix) in failure.value.what


@pytest.mark.parametrize(("hexl", "base"), [("OFF", "seal"), ("ON", "seal-hexl")])
def test_a_whole_prefix_is_taken(recipes: ModuleType, prefix: Path, hexl: str, base: str) -> None:
    replaced("config", "HEXL OFF", f"HEXL {hexl}")(prefix)
    found = recipes.load("seal").installed(prefix)
    assert (found.version, found.base, found.outside) == ("4.1.1", base, ())


def test_a_shared_library_stays_where_it_is(recipes: ModuleType, prefix: Path) -> None:
    shared = prefix / "lib" / "libseal.so.4.1"
    (prefix / PLACES["library"]).rename(shared)
    assert recipes.load("seal").installed(prefix).outside == (shared,)


@pytest.mark.parametrize(
    ("command", "flags"),
    [
        (
            "/usr/bin/c++ -I/a -isystem /b -O1 -DNDEBUG -DX=1 -fPIC -MF d -o x.o -c x.cpp",
            "-O1 -DNDEBUG -fPIC",
        ),
        ("clang++ -march=native -std=gnu++17 -o x.o -c x.cpp", "-march=native -std=gnu++17"),
        ("c++ -c x.cpp", "none"),
    ],
)
def test_flags_of_a_command(recipes: ModuleType, command: str, flags: str) -> None:
    import library_facts

    assert library_facts.flags(command.split()) == flags


def test_a_record_is_that_of_its_binary(recipes: ModuleType, tmp_path: Path) -> None:
    import library_facts

    build, prefix, library = tmp_path / "build", tmp_path / "prefix", tmp_path / "prefix" / "libx.a"
    for folder in (build, prefix):
        folder.mkdir()
    library.write_bytes(b"one")
    commands = [
        {"file": "/s/x/a.cpp", "command": "c++ -w -O1 -c a.cpp -o a.o"},
        {"file": "/s/x/c.c", "command": "cc -O3 -c c.c -o c.o"},
        {"file": "/s/hexl/b.cpp", "command": "c++ -march=native -c b.cpp -o b.o"},
    ]
    (build / "compile_commands.json").write_text(json.dumps(commands))
    library_facts.record(prefix, library, build, {"X": "/s/x/", "HEXL": "/s/hexl/", "other": "/nowhere/"})
    told = library_facts.facts(prefix, library)
    assert told["flags"] == "-w -O1"
    assert told["flags of HEXL"] == "-march=native"
    assert "flags of other" not in told
    library.write_bytes(b"another one")
    again = library_facts.facts(prefix, library.rename(prefix / "liby.a"))
    assert again["flags"].startswith("not known: ")


def test_a_build_folder_tells_by_its_cache(recipes: ModuleType, tmp_path: Path) -> None:
    import library_facts

    (tmp_path / "libx.a").write_bytes(b"x")
    (tmp_path / "CMakeCache.txt").write_text(
        "CMAKE_BUILD_TYPE:STRING=RelWithDebInfo\nCMAKE_CXX_FLAGS:STRING=-march=native\n"
        "CMAKE_CXX_FLAGS_RELWITHDEBINFO:STRING=-O2 -g -DNDEBUG\nCMAKE_CXX_COMPILER:FILEPATH=/no/such/c++\n"
    )
    told = library_facts.facts(tmp_path, tmp_path / "libx.a")
    assert told["flags"] == "-march=native -O2 -g -DNDEBUG"
    assert told["compiler"] == "/no/such/c++"


def test_flags_of_a_build_of_ones_own_take_the_place_of_ours(recipes: ModuleType, tmp_path: Path) -> None:
    from orders import Order

    seal = recipes.load("seal")
    order = Order("mine", tmp_path, None, None, "clang++", "-O1 -g", hexl=True)
    settings = seal._own(order).settings
    assert settings["CMAKE_CXX_FLAGS_RELEASE"] == "-O1 -g -DNDEBUG"
    assert settings["CMAKE_CXX_COMPILER"] == "clang++"
    assert settings["SEAL_USE_INTEL_HEXL"] == "ON"
    assert seal._own(order).module == "_ciphermark_seal_hexl"


@pytest.mark.parametrize(
    ("compiler", "flags", "said"),
    [
        ("no-such-compiler", "-O1", "there is no compiler no-such-compiler"),
        ("c++", "-Ofoo", "refuses '-Ofoo'"),
    ],
)
def test_a_compiler_is_tried_before_minutes_of_compiling(
    recipes: ModuleType, tmp_path: Path, compiler: str, flags: str, said: str
) -> None:
    from orders import Order

    order = Order("mine", tmp_path, None, None, compiler, flags, hexl=False)
    with pytest.raises(sys.modules["runner"].FailureError, match=re.escape(said)):
        recipes.load("seal").added(order)
