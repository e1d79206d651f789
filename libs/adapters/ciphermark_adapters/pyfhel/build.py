"""What the installed Pyfhel tells about its making."""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import distribution

from ciphermark_adapters.pyfhel import parameters as parameter_sets
from ciphermark_core.model import ParameterSpec

_SEAL_MAGIC = b"\x5e\xa1"


@cache
def facts() -> dict[str, str]:
    """SEAL version (from the header of serialized objects), wheel tag, compiler and HEXL."""
    package = distribution("Pyfhel")
    tags = re.findall(r"^Tag: (.+)$", package.read_text("WHEEL") or "", re.MULTILINE)
    binaries = [file for file in package.files or () if file.name.endswith(".so")]
    binary = b"".join(file.locate().read_bytes() for file in binaries)  # type: ignore[attr-defined]
    compilers = sorted({found.decode() for found in re.findall(rb"GCC: \([^)]*\) [\w.]+", binary)})
    sample = parameter_sets.context_of(parameter_sets.resolve(ParameterSpec("bfv", 4096, None, 65537)))
    context = sample.to_bytes_context("none")
    header = context[context.index(_SEAL_MAGIC) :]
    return {
        "seal": f"{header[3]}.{header[4]}",
        "wheel": " ".join(tags),
        "compiler": "; ".join(compilers),
        "hexl": "on" if b"hexl" in binary else "off",
    }
