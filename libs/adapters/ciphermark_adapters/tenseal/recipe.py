"""Installation recipe of TenSEAL, from its wheel. Read by the setup."""

from collections.abc import Collection
from pathlib import Path

from environment import identity, pip_install
from places import PYTHON, file_digest, has_package_file
from runner import Shell, Stage

REQUIREMENTS = Path(__file__).with_name("requirements.txt")


def stages(without: Collection[str]) -> list[Stage]:
    """Return the single stage."""
    stage = Stage(
        "tenseal",
        "TenSEAL",
        inputs=lambda: [file_digest(REQUIREMENTS), identity()],
        is_present=has_tenseal,
        build=install_tenseal,
        needs=("python",),
    )
    return [stage]


def has_tenseal() -> bool:
    """Return whether TenSEAL is installed."""
    return has_package_file("tenseal-*.dist-info")


def install_tenseal(shell: Shell) -> None:
    """Install TenSEAL's wheel, and load it once."""
    only_wheels = ("--require-hashes", "--only-binary=:all:", "--no-deps")
    pip_install(shell, *only_wheels, "--requirement", REQUIREMENTS)
    shell.run(
        PYTHON, "-c", "import tenseal", advice="TenSEAL does not load here; --without tenseal leaves it out"
    )
