"""Build facts of compiled files: compilers, flags and machine. Standard library only.

Compilers sign the section ``.comment``. Flags are in the debug information or ``.GCC.command.line``: GCC writes its
command line into both (``-g``, ``-frecord-gcc-switches``), clang on request (``-grecord-command-line``). Static
libraries are read member by member. The setup also imports this module.
"""

from __future__ import annotations

import hashlib
import re
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

_ELF = b"\x7fELF"
_ARCHIVE = b"!<arch>\n"
_MEMBER_HEADER = 60
_COMPRESSED = 0x800  # SHF_COMPRESSED
_NO_BITS = 8  # SHT_NOBITS: such as .bss, which has no bytes in the file
_SIGNATURES = (".comment",)
_COMMANDS = (".debug_str", ".debug_line_str", ".debug_info", ".GCC.command.line")
_PRODUCER = re.compile(rb"GNU C(?:\+\+)?\d* \d+\.[\d.]+[^\0\n]*? (-[^\0\n]*)")
_CLANG_COMMAND = re.compile(rb"clang[^\0\n]*? (-[^\0\n]+)")
_MACHINES = {3: "x86", 40: "ARM", 62: "x86-64", 183: "AArch64", 243: "RISC-V"}
# Parts of a recorded command line that are no choice of the builder: paths, and options of all commands.
_PLACES = re.compile(
    r"(?:^|(?<= ))(?:-(?:I|isystem|o|c|D|MF|MT|MD|fdebug-\S+=)\S*(?: (?!-)\S+)*|--param[ =]\S+)"
)
_DIGEST_DIGITS = 16


@dataclass
class Making:
    """Build facts of one file; a library may have several compilers and flags, one per part."""

    compilers: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    machines: list[str] = field(default_factory=list)


def making(path: Path) -> Making:
    """Return the build facts of a binary or a static library; empty facts for any other file."""
    result = Making()
    for image in _images(path.read_bytes()):
        machine, sections = _sections(image)
        _add(result.machines, [machine])
        for name, data in sections:
            if name in _SIGNATURES:
                _add(result.compilers, (_text(item) for item in data.split(b"\0")))
            elif name in _COMMANDS:
                _add(result.flags, (_flags(item) for item in _PRODUCER.findall(data)))
                _add(result.flags, (_flags(item) for item in _CLANG_COMMAND.findall(data)))
    return result


def digest(path: Path) -> str:
    """The file's name and a prefix of its SHA-256, in which two builds of one version differ."""
    return f"{path.name} sha256:{hashlib.sha256(path.read_bytes()).hexdigest()[:_DIGEST_DIGITS]}"


def _add(texts: list[str], items: Iterable[str]) -> None:
    texts.extend(dict.fromkeys(item for item in items if item and item not in texts))


def _text(data: bytes) -> str:
    return data.decode(errors="replace").strip()


def _flags(command: bytes) -> str:
    """The options of a recorded command line, without paths."""
    return " ".join(_PLACES.sub("", _text(command)).split())


def _images(data: bytes) -> Iterator[bytes]:
    """Yield the ELF files in the data: the file itself, or the members of an archive."""
    if data.startswith(_ELF):
        yield data
    if not data.startswith(_ARCHIVE):
        return
    at = len(_ARCHIVE)
    while at + _MEMBER_HEADER <= len(data):
        size_text = data[at + 48 : at + 58].strip()
        if not size_text.isdigit():
            return
        size = int(size_text)
        member = data[at + _MEMBER_HEADER : at + _MEMBER_HEADER + size]
        if member.startswith(_ELF):
            yield member
        at += _MEMBER_HEADER + size + size % 2


def _sections(image: bytes) -> tuple[str, list[tuple[str, bytes]]]:
    """Machine, and name and bytes of each section; a damaged file has none."""
    try:
        is_wide, order = image[4] == 2, "<" if image[5] == 1 else ">"
        (number,) = struct.unpack_from(f"{order}H", image, 18)
        machine = f"{_MACHINES.get(number, f'machine {number}')}, {64 if is_wide else 32} bits"
        return machine, list(_read(image, order, is_wide))
    except (struct.error, ValueError, IndexError, zlib.error):
        return "a damaged file", []


def _read(image: bytes, order: str, is_wide: bool) -> Iterator[tuple[str, bytes]]:
    (table,) = struct.unpack_from(f"{order}{'Q' if is_wide else 'I'}", image, 40 if is_wide else 32)
    size, count, names = struct.unpack_from(f"{order}HHH", image, 58 if is_wide else 46)
    layout = f"{order}IIQQQQ" if is_wide else f"{order}IIIIII"
    headers = [struct.unpack_from(layout, image, table + index * size) for index in range(count)]
    if not headers:
        return
    _, _, _, _, start, length = headers[names]
    texts = image[start : start + length]
    for name_at, kind, flags, _, start, length in headers:
        name = _text(texts[name_at : texts.index(b"\0", name_at)])
        if kind != _NO_BITS and name in (*_SIGNATURES, *_COMMANDS):
            yield name, _expanded(image[start : start + length], flags, is_wide)


def _expanded(data: bytes, flags: int, is_wide: bool) -> bytes:
    """A section's bytes, decompressed with zlib; empty for other compressions."""
    if not flags & _COMPRESSED:
        return data
    header = 24 if is_wide else 12
    is_zlib = int.from_bytes(data[:4], "little") == 1
    return zlib.decompress(data[header:]) if is_zlib else b""
