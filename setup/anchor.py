"""The anchor: a shared library without Python in it, which workers load whatever their interpreter is."""

from places import ROOT, compiler_version, file_digest
from runner import Shell, Stage

_SOURCE = ROOT / "libs" / "measure" / "ciphermark_measure" / "native" / "anchor.cpp"
_LIBRARY = _SOURCE.with_name("_anchor.so")  # where ciphermark_measure.interference.anchor looks for it
_FLAGS = ("-std=c++17", "-O3", "-Wall", "-Wextra", "-fPIC", "-shared")


def stage() -> Stage:
    """Return the stage that builds it. Without it samples are taken all the same, and nobody knows in what state."""
    return Stage(
        "anchor",
        "anchor, to know disturbed samples by",
        inputs=lambda: [file_digest(_SOURCE), compiler_version(), str(_LIBRARY)],
        is_present=_LIBRARY.exists,
        build=build,
        needs=("system",),
        is_optional=True,
    )


def build(shell: Shell) -> None:
    """Compile it; for any CPU of its kind, since images are built on one machine and run on others."""
    shell.run("c++", *_FLAGS, _SOURCE, "-o", _LIBRARY, advice="the log's first `error:` says why")
