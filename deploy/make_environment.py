"""Makes the environment of one role of the images in /opt/ciphermark: `deploy/make_environment.py ciphermark-client`.

The build stage downloaded the wheels, checked them against the pinned hashes, and ran the libraries' recipes. This
script downloads nothing. The build stage of a library has the name of the variant that it installs.
"""

import shutil
import subprocess
import sys
from pathlib import Path

BUILT = Path(__file__).resolve().parents[1]  # where the build stage ran the setup
TARGET = Path("/opt/ciphermark")
WHEELS = Path("/wheels")
PINNED = ".build/pinned"  # packages in the setup's environment before any library
ENVIRONMENTS = ".build/environments"  # a folder of packages for each library with its own environment
_LOAD = """
import subprocess, sys
from ciphermark_adapters import registry
from ciphermark_core import host

variants = [registry.shipped()[name] for name in sys.argv[1:] if name in registry.shipped()]
for declared in variants:
    if set(host.collect().cpu_flags).issuperset(declared.isa):
        command = [registry.interpreter(declared.variant), "-m", "ciphermark_measure.describe", declared.variant]
        subprocess.run(command, check=True)
"""


def main(role: str) -> None:
    """Install the role's distribution and all libraries, and load each library once."""
    packages = _environment(TARGET / ".venv")
    python = TARGET / ".venv" / "bin" / "python"
    offline = ("--no-index", "--no-cache-dir", "--find-links", WHEELS)
    subprocess.run(["pip", "--python", python, "install", *offline, role], check=True)
    for path in installed_by_recipes(BUILT):
        _copy(path, packages / path.name)
    for folder in sorted((BUILT / ENVIRONMENTS).glob("*")):
        own = _environment(TARGET / f".venv-{folder.name}")  # the adapters search here
        shutil.copytree(folder, own, symlinks=True, dirs_exist_ok=True)
        (own / "ciphermark.pth").write_text(f"{packages}\n")  # it shares the packages of the others
    stages = sorted(path.name for path in (BUILT / ".build" / "stamps").iterdir())
    subprocess.run([python, "-c", _LOAD, *stages], stdout=subprocess.DEVNULL, check=True)


def installed_by_recipes(built: Path) -> list[Path]:
    """Return the files that the libraries' recipes added to the setup's environment, without the pinned packages."""
    (packages,) = (built / ".venv").glob("lib/python3*/site-packages")
    before = {*(built / PINNED).read_text().splitlines(), "__pycache__"}
    return sorted(path for path in packages.iterdir() if path.name not in before)


def _environment(folder: Path) -> Path:
    """Create an environment without packages; return its folder for packages."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (packages,) = folder.glob("lib/python3*/site-packages")
    return packages


def _copy(path: Path, target: Path) -> None:
    if path.is_dir():
        shutil.copytree(path, target, symlinks=True)
    else:
        shutil.copy2(path, target)


if __name__ == "__main__":
    main(sys.argv[1])
