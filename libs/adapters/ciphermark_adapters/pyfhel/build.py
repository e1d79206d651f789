"""What the installed Pyfhel tells about its making: of ``libAfhel.so``, which has SEAL in it."""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

from ciphermark_adapters import provenance
from ciphermark_adapters.pyfhel import parameters as parameter_sets
from ciphermark_core.model import ParameterSpec

_SEAL_MAGIC = b"\x5e\xa1"
_LIBRARY = "libAfhel.so"


@cache
def facts() -> dict[str, str]:
    """SEAL version (from the header of serialized objects), wheel tag, compiler, flags and HEXL."""
    package = distribution("Pyfhel")
    tags = re.findall(r"^Tag: (.+)$", package.read_text("WHEEL") or "", re.MULTILINE)
    library = Path(next(str(file.locate()) for file in package.files or () if file.name == _LIBRARY))
    sample = parameter_sets.context_of(parameter_sets.resolve(ParameterSpec("bfv", 4096, None, 65537)))
    context = sample.to_bytes_context("none")
    header = context[context.index(_SEAL_MAGIC) :]
    return {
        "seal": f"{header[3]}.{header[4]}",
        "wheel": " ".join(tags),
        **provenance.of_binary(library),
        "hexl": "on" if b"hexl" in library.read_bytes() else "off",
    }
