"""C++ builds: SEAL with and without Intel HEXL, Pyfhel, and our native modules."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import sources
from places import (
    BUILD,
    IS_PORTABLE,
    PYTHON,
    ROOT,
    SETUP,
    WORK,
    cpu_flags,
    has_package_file,
    site_packages,
)
from runner import Shell

SEAL_CHECK = SETUP / "checks" / "seal"
PYFHEL_CHECK = SETUP / "checks" / "pyfhel_round_trips.py"
ADAPTERS = ROOT / "libs" / "adapters" / "ciphermark_adapters"
NATIVE_COMMON = ADAPTERS / "native_common"
NATIVE_SOURCES = ADAPTERS / "seal" / "native"
# SEAL's own defaults hold for everything that isn't named here: a static library, transparent ciphertexts are
# an error, centered binomial noise. PIC, because the library ends in a Python module. `-w` silences 43,000
# warnings of HEXL and changes no code.
SEAL_SETTINGS = {
    "CMAKE_BUILD_TYPE": "Release",
    "CMAKE_POSITION_INDEPENDENT_CODE": "ON",
    "CMAKE_CXX_FLAGS": "-w",
    "SEAL_BUILD_DEPS": "ON",
}
# SEAL's installed CMake package forgets what the HEXL inside its static library needs.
HEXL_LINK = """
# Added by Ciphermark's set-up: the HEXL inside needs cpu_features at the final link.
find_dependency(CpuFeatures)
set_property(TARGET SEAL::seal APPEND PROPERTY INTERFACE_LINK_LIBRARIES CpuFeatures::cpu_features)
"""
# HEXL compiles itself for the CPU that builds it. A portable build is for every CPU with AVX-512 (x86-64-v4). HEXL
# chooses kernels with AVX-512 IFMA when it runs, where the CPU has it; VBMI2 is left out: HEXL uses it without asking
# once it is compiled in. The definitions answer what HEXL asks the building CPU.
_HEXL_KERNELS = ("HEXL_HAS_AVX256", "HEXL_HAS_AVX512DQ", "HEXL_HAS_AVX512IFMA")
_HEXL_FILES = ("hexl/CMakeLists.txt", "cmake/hexl/hexl-util.cmake")
HEXL_PORTABLE = "-march=x86-64-v4 -mavx512ifma"
_PORTABLE_FLAGS = frozenset({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})
_BUILD_ADVICE = "the log's first `error:` says why; --without leaves this library out"


@dataclass(frozen=True, slots=True)
class SealVariant:
    """One build of SEAL."""

    name: str
    hexl: str

    @property
    def prefix(self) -> Path:
        """Where this build is installed."""
        return BUILD / self.name

    @property
    def module(self) -> str:
        """The Python module that we build against it."""
        return f"_ciphermark_{self.name.replace('-', '_')}"


PLAIN = SealVariant("seal", "OFF")
WITH_HEXL = SealVariant("seal-hexl", "ON")


def has_seal(variant: SealVariant) -> bool:
    """Tell whether this build of SEAL is installed."""
    return (variant.prefix / "lib" / "libseal-4.1.a").exists()


def build_seal(variant: SealVariant, shell: Shell) -> None:
    """Build and install this variant, and prove with a small program that it multiplies correctly."""
    with _work_folder(variant.name) as work:
        shutil.copytree(sources.SEAL, work / "seal")
        variable = {"SEAL_USE_INTEL_HEXL": variant.hexl, "CMAKE_INSTALL_PREFIX": str(variant.prefix)}
        third_party = _copy_third_party(work)
        settings = {**SEAL_SETTINGS, **variable, **_fetch_content(third_party)}
        if variant is WITH_HEXL and IS_PORTABLE:
            settings |= _make_hexl_portable(third_party / "hexl")
        _cmake(shell, work / "seal", work / "build", settings)
        shutil.rmtree(variant.prefix, ignore_errors=True)
        shell.run("cmake", "--install", work / "build", advice=_BUILD_ADVICE)
        if variant is WITH_HEXL:
            _declare_hexl_link(variant)
        settings = {"CMAKE_BUILD_TYPE": "Release", "CMAKE_PREFIX_PATH": str(variant.prefix)}
        _cmake(shell, SEAL_CHECK, work / "check", settings)
        if _runs_here(variant):
            shell.run(work / "check" / "seal_check", variant.hexl, advice="please report this, with the log")
        else:
            shell.note("built and not checked: this CPU has no AVX-512")


def has_pyfhel() -> bool:
    """Tell whether Pyfhel is installed."""
    return has_package_file(f"pyfhel-{sources.PYFHEL_VERSION}.dist-info")


def build_pyfhel(shell: Shell) -> None:
    """Build and install Pyfhel, which brings its own SEAL, and prove that its three schemes work."""
    with _work_folder("pyfhel") as work:
        third_party = _copy_third_party(work)
        toolchain = work / "toolchain.cmake"
        # Pyfhel starts CMake itself: a toolchain file is the one way to hand it more options.
        settings = {**_fetch_content(third_party), "CMAKE_POLICY_VERSION_MINIMUM": "3.5"}
        lines = [f'set({name} "{value}" CACHE STRING "")\n' for name, value in settings.items()]
        toolchain.write_text("".join(lines))
        env = {
            "CMAKE_TOOLCHAIN_FILE": str(toolchain),
            "CMAKE_GENERATOR": "Ninja",
            "CPATH": str(third_party / "msgsl" / "include"),
            "TMPDIR": str(work),
        }
        options = ("--no-deps", "--no-index", "--no-build-isolation", "--no-cache-dir", "--force-reinstall")
        pip = (PYTHON, "-m", "pip", "install")
        shell.run(*pip, *options, sources.PYFHEL_ARCHIVE, advice=_BUILD_ADVICE, extra_env=env)
    shell.run(PYTHON, PYFHEL_CHECK, advice="please report this, with the log")


def has_native_sources() -> bool:
    """Tell whether there is a native module to build."""
    return (NATIVE_SOURCES / "CMakeLists.txt").exists()


def has_native(variant: SealVariant) -> bool:
    """Tell whether our native module for this variant is installed."""
    return has_package_file(f"{variant.module}.*so")


def build_native(variant: SealVariant, shell: Shell) -> None:
    """Build our native module against this variant."""
    settings = {"CIPHERMARK_VARIANT": variant.name.replace("-", "_")}
    build_module(NATIVE_SOURCES, BUILD / "native" / variant.name, variant.prefix, shell, settings)
    if _runs_here(variant):
        shell.run(PYTHON, "-c", f"import {variant.module}", advice="the module does not load; see the log")


def build_module(
    source: Path, folder: Path, prefix: Path, shell: Shell, variable: Mapping[str, str] | None = None
) -> None:
    """Build a native module of ours against the library at a prefix, and install it.

    The build folder is kept, so a second build is short.
    """
    cache = folder / "CMakeCache.txt"
    if cache.exists() and f"CMAKE_HOME_DIRECTORY:INTERNAL={source}\n" not in cache.read_text():
        shutil.rmtree(folder)  # the repository was moved
    settings = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_PREFIX_PATH": str(prefix),
        "Python_EXECUTABLE": str(PYTHON),
        "CMAKE_INSTALL_PREFIX": str(site_packages()),
        **(variable or {}),
    }
    _cmake(shell, source, folder, settings)
    shell.run("cmake", "--install", folder, advice=_BUILD_ADVICE)


@contextmanager
def _work_folder(name: str) -> Iterator[Path]:
    """Give an empty folder and remove it afterwards: a build writes into its copy of the sources."""
    folder = WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def _copy_third_party(work: Path) -> Path:
    return shutil.copytree(sources.THIRD_PARTY, work / "thirdparty")


def _fetch_content(third_party: Path) -> dict[str, str]:
    """Return the CMake settings that make FetchContent take these sources instead of downloading them."""
    return {f"FETCHCONTENT_SOURCE_DIR_{name.upper()}": str(third_party / name) for name in sources.LIBRARIES}


def _make_hexl_portable(hexl: Path) -> dict[str, str]:
    """Change these sources to compile for all CPUs with AVX-512; return the CMake settings that go with it."""
    for name in _HEXL_FILES:
        file = hexl / name
        file.write_text(file.read_text().replace("-march=native", HEXL_PORTABLE))
    definitions = " ".join(f"-D{name}" for name in _HEXL_KERNELS)
    flags = f"{SEAL_SETTINGS['CMAKE_CXX_FLAGS']} {definitions}"
    return {"CMAKE_CXX_FLAGS": flags, **dict.fromkeys(_HEXL_KERNELS, "1")}


def _runs_here(variant: SealVariant) -> bool:
    """Tell whether this CPU can run what was built: a portable build may be for another one."""
    return variant is PLAIN or not IS_PORTABLE or set(cpu_flags().split()) >= _PORTABLE_FLAGS


def _cmake(shell: Shell, source: Path, build: Path, settings: Mapping[str, str]) -> None:
    """Configure and build; Ninja takes all cores."""
    options = [f"-D{name}={value}" for name, value in settings.items()]
    shell.run("cmake", "-G", "Ninja", "-Wno-dev", "-S", source, "-B", build, *options, advice=_BUILD_ADVICE)
    shell.run("cmake", "--build", build, advice=_BUILD_ADVICE)


def _declare_hexl_link(variant: SealVariant) -> None:
    """Add to SEAL's installed CMake package what its users need to link it."""
    with (variant.prefix / "lib" / "cmake" / "SEAL-4.1" / "SEALConfig.cmake").open("a") as config:
        config.write(HEXL_LINK)
