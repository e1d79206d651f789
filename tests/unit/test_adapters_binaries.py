"""What compiled files tell of their making: real ones, damaged ones, and ones that tell nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_adapters import binaries, provenance

SOURCE = "int f(int x) { return x * x; }\n"
COMPILER = shutil.which("c++")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler here")


def compiled(folder: Path, *flags: str, name: str = "f.o") -> Path:
    source = folder / "f.cpp"
    source.write_text(SOURCE)
    assert COMPILER is not None
    subprocess.run([COMPILER, *flags, "-c", str(source), "-o", str(folder / name)], check=True, timeout=300)
    return folder / name


@needs_compiler
@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("-O1", "-g"), "-O1"),
        (("-O2", "-g", "-ffast-math"), "-ffast-math"),
        (("-O1", "-frecord-gcc-switches"), "-O1"),
        (("-O1", "-g", "-gz=zlib"), "-O1"),
        (("-O1",), None),
    ],
)
def test_flags_are_told_where_the_file_has_them(
    tmp_path: Path, flags: tuple[str, ...], told: str | None
) -> None:
    found = binaries.making(compiled(tmp_path, *flags))
    assert len(found.compilers) == 1
    assert "GCC" in found.compilers[0]
    assert found.machines == binaries.making(Path(sys.executable).resolve()).machines
    if told is None:
        assert found.flags == []
    else:
        (text,) = found.flags
        assert told in text.split()
        assert str(tmp_path) not in text


@needs_compiler
def test_a_static_library_tells_of_all_its_members(tmp_path: Path) -> None:
    members = [compiled(tmp_path, level, "-g", name=f"f{level}.o") for level in ("-O1", "-O3")]
    library = tmp_path / "libf.a"
    subprocess.run(["ar", "rc", str(library), *map(str, members)], check=True, timeout=300)
    found = binaries.making(library)
    assert len(found.compilers) == 1
    assert len(found.flags) == 2
    assert {"-O1", "-O3"} <= {word for text in found.flags for word in text.split()}


@needs_compiler
def test_what_cannot_be_known_says_so(tmp_path: Path) -> None:
    told = provenance.of_binary(compiled(tmp_path, "-O1"))
    assert "GCC" in told["compiler"]
    assert told["flags"].startswith("not known: f.o has no debug information")
    assert told["told by"] == "its binary"
    nothing = tmp_path / "nothing.so"
    nothing.write_bytes(b"no binary at all")
    assert provenance.of_binary(nothing)["compiler"].startswith("not known: ")


@needs_compiler
def test_two_builds_of_one_source_have_two_digests(tmp_path: Path) -> None:
    assert binaries.digest(compiled(tmp_path, "-O1")) != binaries.digest(compiled(tmp_path, "-O3"))


@cache
def real() -> bytes:
    with TemporaryDirectory() as folder:
        return compiled(Path(folder), "-O1", "-g", "-gz=zlib").read_bytes()


@needs_compiler
@given(st.data())
def test_a_damaged_file_raises_nothing(data: st.DataObject) -> None:
    whole = real()
    cut = data.draw(st.integers(0, len(whole)))
    broken = bytearray(whole[:cut])
    for _ in range(data.draw(st.integers(0, 4))):
        if broken:
            broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "broken.o"
        path.write_bytes(bytes(broken))
        binaries.making(path)


def test_a_module_without_a_record_says_what_to_do(tmp_path: Path) -> None:
    class Module:
        __name__ = "_some"
        __file__ = str(tmp_path / "_some.so")

    assert "setup/install.py" in provenance.beside(Module())["flags"]
    (tmp_path / "_some.library.json").write_text('{"compiler": "c++ 12", "flags": "-O1"}')
    assert provenance.beside(Module()) == {"compiler": "c++ 12", "flags": "-O1"}
