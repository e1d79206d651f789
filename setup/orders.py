"""Users' builds, as recipes take them: the request, and common steps."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import builds
from places import PYTHON, site_packages
from runner import FailureError, Shell

ENVIRONMENT = "environment"  # as in ciphermark_adapters.added


@dataclass(frozen=True, slots=True)
class Order:
    """The request for a build; ``folder`` is that of the build."""

    name: str
    folder: Path
    prefix: Path | None = None
    environment: Path | None = None
    compiler: str | None = None
    flags: str | None = None
    hexl: bool = False

    @property
    def python(self) -> Path:
        """The interpreter of the build's own environment."""
        return self.folder / ENVIRONMENT / "bin" / "python"

    @property
    def packages(self) -> Path:
        """The folder of that environment's packages."""
        (folder,) = (self.folder / ENVIRONMENT).glob("lib/python3*/site-packages")
        return folder


Step = tuple[str, Callable[[Shell], None]]


@dataclass(frozen=True, slots=True)
class Taken:
    """How a library is added: the corresponding shipped variant, its origin, the steps, and files outside the build."""

    base: str
    origin: str
    steps: tuple[Step, ...]
    outside: tuple[Path, ...] = ()


def environment_like_ours(order: Order, shell: Shell) -> None:
    """Create the build's environment: ours, with the build's own modules before ours."""
    environment_of(order, PYTHON, shell)
    link(order, [site_packages()])


def environment_of(order: Order, python: Path, shell: Shell) -> None:
    """Create the build's environment for an interpreter; it has no packages."""
    advice = f"{python} must be a Python that makes environments (its module venv)"
    shell.run(python, "-m", "venv", "--without-pip", order.folder / ENVIRONMENT, advice=advice)


def link(order: Order, folders: list[Path]) -> None:
    """Let the environment find the packages of other folders after its own."""
    lines = [f"import site; site.addsitedir({str(folder)!r})\n" for folder in folders]
    (order.packages / "ciphermark-build.pth").write_text("".join(lines))


def build_into(order: Order, source: Path, prefix: Path, variable: dict[str, str], shell: Shell) -> None:
    """Build a native module of ours against the library at a prefix, into the build's environment."""
    with builds.work_folder(f"build-{order.name}") as work:
        settings = {**variable, "CMAKE_INSTALL_PREFIX": str(order.packages)}
        builds.compile_module(source, work, prefix, shell, settings)


def require_compiler(order: Order) -> None:
    """Raise `FailureError` if the compiler is missing or refuses the flags, before minutes of compiling."""
    compiler = order.compiler or "c++"
    command = [compiler, *(order.flags or "").split(), "-x", "c++", "-c", "-o", "/dev/null", "-"]
    try:
        done = subprocess.run(
            command, input="int main() { return 0; }\n", capture_output=True, text=True, check=False
        )
    except OSError as error:
        advice = "install it, or name another with --compiler"
        raise FailureError(f"there is no compiler {compiler} here ({error.strerror})", advice) from error
    if done.returncode != 0:
        complaint = (done.stderr.strip().splitlines() or ["it says nothing"])[0]
        raise FailureError(f"{compiler} refuses {order.flags!r}: {complaint}", "mend --flags")
