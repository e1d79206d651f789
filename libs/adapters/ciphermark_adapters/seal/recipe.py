"""Build recipe of SEAL, with and without Intel HEXL, and of our native module against each. Read by the setup.

SEAL's sources are in the source distribution of Pyfhel. Those of HEXL, zlib, zstd and Microsoft's GSL are in the Rust
crate `sealy`, which includes SEAL's third-party code.
"""

import re
import shutil
import sys
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import builds
import library_facts
from orders import Order, Step, Taken, build_into, environment_like_ours, require_compiler
from places import (
    BUILD,
    IS_PORTABLE,
    PYTHON,
    compiler_version,
    cpu_flags,
    folder_digests,
    has_package_file,
    pins,
    site_packages,
)
from places import SOURCES as UNPACKED
from runner import FailureError, Shell, Stage
from sources import Archive, from_cargo, from_pip
from system import DebianPackage, is_installed

from ciphermark_adapters import binaries

HERE = Path(__file__).parent
CHECK = HERE / "check"
NATIVE = HERE / "native"
LIBRARY = "lib/libseal-4.1.a"
PYFHEL = Archive(
    "Pyfhel",
    "3.5.0",
    "pyfhel-3.5.0.tar.gz",
    "0375b83b5a83026924f59db25c4efa9f27e1e8a66d004658f4d24195986a04b6",
    from_pip,
    {"seal": "pyfhel-3.5.0/Pyfhel/backend/SEAL"},
)
_THIRD_PARTY = ("hexl", "msgsl", "zlib", "zstd")
SEALY = Archive(
    "sealy",
    "0.2.0",
    "sealy-0.2.0.crate",
    "17dbf0eb13e9306219ea2cb9e062c2ebcfe38bd41b6a03bb9c0a8bfc63cc426a",
    from_cargo,
    {f"thirdparty/{name}": f"sealy-0.2.0/SEAL/thirdparty/{name}" for name in _THIRD_PARTY},
)
SOURCES = (PYFHEL, SEALY)
PACKAGES = (
    DebianPackage("cargo", lambda: shutil.which("cargo") is not None or SEALY.is_there(), only_for="sources"),
    DebianPackage("libcpu-features-dev", partial(is_installed, "libcpu-features-dev"), only_for="seal-hexl"),
)
# SEAL's own defaults hold for all other settings: a static library, errors for transparent ciphertexts, centered
# binomial noise. PIC, because the library is linked into a Python module. `-w` silences 43,000 warnings of HEXL and
# changes no code.
SEAL_SETTINGS = {
    "CMAKE_BUILD_TYPE": "Release",
    "CMAKE_POSITION_INDEPENDENT_CODE": "ON",
    "CMAKE_CXX_FLAGS": "-w",
    "SEAL_BUILD_DEPS": "ON",
}
# SEAL's installed CMake package omits the requirements of the HEXL inside its static library.
HEXL_LINK = """
# Added by Ciphermark's setup: the HEXL inside needs cpu_features at the final link.
find_dependency(CpuFeatures)
set_property(TARGET SEAL::seal APPEND PROPERTY INTERFACE_LINK_LIBRARIES CpuFeatures::cpu_features)
"""
# HEXL compiles itself for the CPU that builds it. A portable build is for every CPU with AVX-512 (x86-64-v4). HEXL
# chooses kernels with AVX-512 IFMA when it runs, where the CPU has it; VBMI2 is left out: HEXL uses it without asking
# once it is compiled in. The definitions replace HEXL's checks of the building CPU.
_HEXL_KERNELS = ("HEXL_HAS_AVX256", "HEXL_HAS_AVX512DQ", "HEXL_HAS_AVX512IFMA")
_HEXL_FILES = ("hexl/CMakeLists.txt", "cmake/hexl/hexl-util.cmake")
HEXL_PORTABLE = "-march=x86-64-v4 -mavx512ifma"
_PORTABLE_FLAGS = frozenset({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})


@dataclass(frozen=True, slots=True)
class SealVariant:
    """One build of SEAL. ``compiler`` and ``optimization`` are those of a user's build."""

    name: str
    title: str
    hexl: str
    folder: Path = BUILD
    compiler: str | None = None
    optimization: str = "-O3"

    @property
    def prefix(self) -> Path:
        """The folder where this build is installed."""
        return self.folder / self.name

    @property
    def library(self) -> Path:
        """The static library."""
        return self.prefix / LIBRARY

    @property
    def module(self) -> str:
        """The Python module that we build against it."""
        return MODULES[self.hexl == "ON"]

    @property
    def settings(self) -> dict[str, str]:
        """The CMake settings that differ between builds."""
        own = {
            "SEAL_USE_INTEL_HEXL": self.hexl,
            "CMAKE_INSTALL_PREFIX": str(self.prefix),
            "CMAKE_CXX_FLAGS_RELEASE": f"{self.optimization} -DNDEBUG",
        }
        return own if self.compiler is None else {**own, "CMAKE_CXX_COMPILER": self.compiler}


MODULES = {False: "_ciphermark_seal", True: "_ciphermark_seal_hexl"}
# The libraries in the static one, each by a part of the paths of its sources.
PARTS = {"SEAL": "/native/src/seal/", "HEXL": "/hexl/"}
PLAIN = SealVariant("seal", "SEAL 4.1.2", "OFF")
WITH_HEXL = SealVariant("seal-hexl", "SEAL 4.1.2 with HEXL", "ON")


def stages(without: Collection[str]) -> list[Stage]:
    """Return the stages of both builds, and of our modules where their sources exist."""
    variants = (PLAIN, WITH_HEXL)
    modules = variants if (NATIVE / "CMakeLists.txt").exists() else ()
    return [*map(_library_stage, variants), *map(_module_stage, modules)]


def _library_stage(variant: SealVariant) -> Stage:
    return Stage(
        variant.name,
        variant.title,
        inputs=partial(_library_inputs, variant),
        is_present=partial(has_seal, variant),
        build=partial(build_seal, variant),
        needs=("python", "sources", "system") if variant is WITH_HEXL else ("python", "sources"),
        rebuilt_with=("sources",),
    )


def _library_inputs(variant: SealVariant) -> list[str]:
    settings = [f"{name}={value}" for name, value in SEAL_SETTINGS.items()]
    host = [_instruction_set()] if variant is WITH_HEXL else []
    return [*settings, *pins("cmake", "ninja"), compiler_version(), *host, *folder_digests(CHECK)]


def _instruction_set() -> str:
    """Return the target of HEXL: this CPU, or all CPUs with AVX-512."""
    return HEXL_PORTABLE if IS_PORTABLE else cpu_flags()


def _module_stage(variant: SealVariant) -> Stage:
    return Stage(
        f"native-{variant.name}",
        f"native module for {variant.name}",
        inputs=partial(builds.module_inputs, NATIVE),
        is_present=lambda: (
            has_package_file(f"{variant.module}.*so") and has_package_file(f"{variant.module}.library.json")
        ),
        build=partial(build_module, variant),
        needs=("python", variant.name),
        rebuilt_with=(variant.name,),
    )


def has_seal(variant: SealVariant) -> bool:
    """Return whether this build of SEAL is installed."""
    return variant.library.exists()


def build_seal(variant: SealVariant, shell: Shell) -> None:
    """Build and install this variant, and check with a small program that it multiplies correctly."""
    with builds.work_folder(variant.name) as work:
        builds.cmake(shell, work / "seal", work / "build", _copied(variant, work))
        shutil.rmtree(variant.prefix, ignore_errors=True)
        shell.run("cmake", "--install", work / "build", advice=builds.ADVICE)
        if variant.hexl == "ON":
            _declare_hexl_link(variant)
        _finish(variant, work / "build", shell)
        settings = {"CMAKE_BUILD_TYPE": "Release", "CMAKE_PREFIX_PATH": str(variant.prefix)}
        builds.cmake(shell, CHECK, work / "check", settings)
        if _runs_here(variant):
            shell.run(work / "check" / "seal_check", variant.hexl, advice="please report this, with the log")
        else:
            shell.note("built and not checked: this CPU has no AVX-512")


def _copied(variant: SealVariant, work: Path) -> dict[str, str]:
    """Copy all sources of a build into a folder; return the CMake settings."""
    shutil.copytree(UNPACKED / "seal", work / "seal")
    third_party = copy_third_party(work)
    settings = {**SEAL_SETTINGS, **variant.settings, **fetch_content(third_party)}
    if variant.hexl == "ON" and IS_PORTABLE:
        settings |= _make_hexl_portable(third_party / "hexl")
    return settings


def copy_third_party(work: Path) -> Path:
    """Copy the sources of SEAL's third-party libraries; return the folder of the copy."""
    return shutil.copytree(UNPACKED / "thirdparty", work / "thirdparty")


def fetch_content(third_party: Path) -> dict[str, str]:
    """Return the CMake settings that make FetchContent take these sources instead of downloading them."""
    return {f"FETCHCONTENT_SOURCE_DIR_{name.upper()}": str(third_party / name) for name in _THIRD_PARTY}


def _finish(variant: SealVariant, build: Path, shell: Shell) -> None:
    """Align the library's code and record how it was compiled."""
    _align_functions(variant, shell)
    library_facts.record(variant.prefix, variant.library, build, PARTS)


def build_module(variant: SealVariant, shell: Shell) -> None:
    """Build our native module against this variant. A library without a record is older than the records."""
    if not library_facts.is_recorded(variant.prefix, variant.library):
        with builds.work_folder(f"record-{variant.name}") as work:
            builds.configure(shell, work / "seal", work / "build", _copied(variant, work))
            _finish(variant, work / "build", shell)
    settings = {"CIPHERMARK_VARIANT": variant.module.removeprefix("_ciphermark_")}
    builds.build_module(NATIVE, variant.name, variant.prefix, shell, settings)
    facts = library_facts.facts(variant.prefix, variant.library)
    library_facts.write(facts, site_packages(), variant.module)
    if _runs_here(variant):
        shell.run(PYTHON, "-c", f"import {variant.module}", advice="the module does not load; see the log")


def _align_functions(variant: SealVariant, shell: Shell) -> None:
    """Align each part of SEAL's code to a cache line in every program linked to it.

    Otherwise its shortest loops, such as those of an addition, are up to a tenth slower in one program than in another,
    depending only on the preceding code.
    """
    alignment = ("--set-section-alignment", ".text*=64")
    shell.run("objcopy", *alignment, variant.library, advice="objcopy is of binutils 2.33 or newer")


def _make_hexl_portable(hexl: Path) -> dict[str, str]:
    """Change these sources to compile for all CPUs with AVX-512; return the matching CMake settings."""
    for name in _HEXL_FILES:
        file = hexl / name
        file.write_text(file.read_text().replace("-march=native", HEXL_PORTABLE))
    definitions = " ".join(f"-D{name}" for name in _HEXL_KERNELS)
    flags = f"{SEAL_SETTINGS['CMAKE_CXX_FLAGS']} {definitions}"
    return {"CMAKE_CXX_FLAGS": flags, **dict.fromkeys(_HEXL_KERNELS, "1")}


def _runs_here(variant: SealVariant) -> bool:
    """Return whether this CPU can run the build; a portable build may be for another CPU."""
    return variant.hexl == "OFF" or not IS_PORTABLE or set(cpu_flags().split()) >= _PORTABLE_FLAGS


def _declare_hexl_link(variant: SealVariant) -> None:
    """Add to SEAL's installed CMake package the libraries that its users have to link."""
    with (variant.prefix / "lib" / "cmake" / "SEAL-4.1" / "SEALConfig.cmake").open("a") as config:
        config.write(HEXL_LINK)


def added(order: Order) -> Taken:
    """Return how a user's build is added: an installed SEAL, or our sources with other flags."""
    if order.prefix is not None:
        seal = installed(order.prefix)
        base, library, outside = seal.base, seal.library, seal.outside
        steps: list[Step] = []
        prefix, origin = order.prefix, f"SEAL {seal.version} in {order.prefix}"
    else:
        require_compiler(order)
        own = _own(order)
        prefix, library, outside, base = own.prefix, own.library, (), "seal-hexl" if order.hexl else "seal"
        origin = f"{own.title}, from the sources that setup has"
        is_there = library_facts.is_recorded(own.prefix, own.library)
        steps = [] if is_there else [(own.title, partial(build_seal, own))]
    module = MODULES[base == WITH_HEXL.name]

    def build(shell: Shell) -> None:
        settings = {"CIPHERMARK_VARIANT": module.removeprefix("_ciphermark_")}
        build_into(order, NATIVE, prefix, settings, shell)
        library_facts.write(library_facts.facts(prefix, library), order.packages, module)

    environment = ("an environment of its own", partial(environment_like_ours, order))
    steps = [*steps, environment, ("its native module", build)]
    return Taken(base, origin, tuple(steps), outside)


def _own(order: Order) -> SealVariant:
    """The build of our sources that an order requests; existing parts of it are kept."""
    hexl = "ON" if order.hexl else "OFF"
    chosen = order.flags or PLAIN.optimization
    title = f"SEAL 4.1.2{' with HEXL' if order.hexl else ''}, {order.compiler or 'c++'} {chosen}"
    return SealVariant("prefix", title, hexl, order.folder, order.compiler, chosen)


# Detection of the SEAL at a prefix, and the reasons why our adapter cannot be built against it.
_VERSION = "4.1"
_CONFIGS = ("lib/cmake/SEAL-*/SEALConfig.cmake", "lib64/cmake/SEAL-*/SEALConfig.cmake")
_LIBRARY_FILES = ("libseal-*.a", "libseal.so*", "libseal.*dylib")
_NEEDED = {  # features of the adapter, by the option that enables them
    "SEAL_USE_ZLIB": "compression with zlib",
    "SEAL_USE_ZSTD": "compression with zstd",
}
# SEAL's minimum compiled-in limits, which suites rely on.
_LIMITS = {
    "SEAL_COEFF_MOD_COUNT_MAX": (64, "primes of a chain"),
    "SEAL_POLY_MOD_DEGREE_MAX": (32768, "coefficients of a polynomial"),
    "SEAL_USER_MOD_BIT_COUNT_MAX": (60, "bits of a prime"),
}
_MEND = "build SEAL again with -D{}=ON"
_INSTALL = "name the folder that SEAL was installed to (its CMAKE_INSTALL_PREFIX)"


@dataclass(frozen=True, slots=True)
class Installed:
    """An installed SEAL: the corresponding shipped variant, and the files that a module built against it needs."""

    version: str
    base: str
    library: Path
    outside: tuple[Path, ...]


def installed(prefix: Path) -> Installed:
    """Return the SEAL at a prefix; raise `FailureError` with the first reason against it."""
    config = next((path for pattern in _CONFIGS for path in sorted(prefix.glob(pattern))), None)
    if config is None:
        raise FailureError(
            f"there is no SEAL in {prefix}: no lib/cmake/SEAL-{_VERSION}/SEALConfig.cmake", _INSTALL
        )
    options = dict(re.findall(r"^set\((SEAL_\w+) ([^)\s]+)\)", config.read_text(), re.MULTILINE))
    version = options.get("SEAL_VERSION", "of an unknown version")
    if not f"{version}.".startswith(f"{_VERSION}."):
        raise FailureError(f"SEAL in {prefix} is {version}", f"the adapter is written for SEAL {_VERSION}")
    _require_headers(prefix, version)
    library = _library(config.parents[2], prefix)
    _require_options(prefix, options)
    base = "seal-hexl" if options.get("SEAL_USE_INTEL_HEXL") == "ON" else "seal"
    is_shared = library.suffix != ".a"
    return Installed(version, base, library, (library.resolve(),) if is_shared else ())


def _require_headers(prefix: Path, version: str) -> None:
    headers = prefix / "include" / f"SEAL-{_VERSION}" / "seal"
    if not (headers / "seal.h").is_file():
        raise FailureError(f"SEAL in {prefix} has no headers: there is no {headers / 'seal.h'}", _INSTALL)
    of_headers = _value(headers / "util" / "config.h", "SEAL_VERSION").strip('"')
    if of_headers != version:
        raise FailureError(f"SEAL in {prefix} is {version}, and its headers are of {of_headers}", _INSTALL)
    for name, (least, words) in _LIMITS.items():
        most = _value(headers / "util" / "defines.h", name)
        if not most.isdigit() or int(most) < least:
            complaint = (
                f"SEAL in {prefix} was compiled for {most or 'an unknown number of'} {words} at most ({name})"
            )
            raise FailureError(complaint, f"the adapter needs {least}")


def _library(folder: Path, prefix: Path) -> Path:
    """Return the library for this kind of machine; a static one is preferred."""
    library = next((path for pattern in _LIBRARY_FILES for path in sorted(folder.glob(pattern))), None)
    if library is None:
        raise FailureError(f"SEAL in {prefix} has no library: {folder} has no libseal-{_VERSION}.a", _INSTALL)
    ours = binaries.making(Path(sys.executable).resolve()).machines
    others = [machine for machine in binaries.making(library).machines if machine not in ours]
    if ours and others:
        raise FailureError(f"{library} is for {others[0]}; this Python is for {ours[0]}", "build SEAL for it")
    return library


def _require_options(prefix: Path, options: dict[str, str]) -> None:
    if options.get("SEAL_DEBUG") == "ON" or options.get("SEAL_BUILD_TYPE") == "Debug":
        release = "build it with -DCMAKE_BUILD_TYPE=Release"
        raise FailureError(f"SEAL in {prefix} is a debug build, whose times mean nothing", release)
    for option, purpose in _NEEDED.items():
        if options.get(option) != "ON":
            raise FailureError(f"SEAL in {prefix} lacks {purpose} ({option})", _MEND.format(option))


def _value(header: Path, name: str) -> str:
    """Return the value that a header defines for a name; an empty text without a definition."""
    text = header.read_text() if header.is_file() else ""
    definition = re.search(rf"^#define {name} (\S+)", text, re.MULTILINE)
    return definition[1] if definition else ""
