"""The list of stages: what each is made from, what it needs, and how it is made."""

from collections.abc import Collection
from functools import partial

import builds
import environment
import helib
import interpreters
import openfhe_environment
import sources
import system
from builds import PLAIN, WITH_HEXL, SealVariant
from environment import identity
from places import IS_PORTABLE, REQUIREMENTS, compiler_version, cpu_flags, file_digest, folder_digests, pins
from runner import Stage


def all_stages(without: Collection[str] = ()) -> list[Stage]:
    """Return the stages in order, less those named and those that need one of them."""
    stages = [*_downloads(without), *_libraries(), *_ours(), *_openfhe(without), _browser()]
    kept: list[Stage] = []
    left_out = set(without)
    for stage in stages:
        if stage.name in left_out or left_out.intersection(stage.needs):
            left_out.add(stage.name)
        else:
            kept.append(stage)
    return kept


def _downloads(without: Collection[str]) -> list[Stage]:
    return [
        Stage(
            "system",
            "system packages",
            inputs=lambda: [package.name for package in system.PACKAGES],
            is_present=lambda: not system.missing_packages(without),
            build=partial(system.install_packages, without),
        ),
        Stage(
            "python",
            "Python packages",
            inputs=lambda: [file_digest(REQUIREMENTS), identity()],
            is_present=environment.is_current_environment,
            build=environment.make_environment,
        ),
        Stage(
            "tenseal",
            "TenSEAL",
            inputs=lambda: [file_digest(environment.TENSEAL_REQUIREMENTS), identity()],
            is_present=environment.has_tenseal,
            build=environment.install_tenseal,
            needs=("python",),
        ),
        Stage(
            "sources",
            "sources of SEAL and HEXL",
            inputs=lambda: [file_digest(sources.HASHES)],
            is_present=sources.has_sources,
            build=sources.fetch_sources,
            needs=("python",),
        ),
    ]


def _libraries() -> list[Stage]:
    return [
        _seal_stage(PLAIN, "SEAL 4.1.2"),
        _seal_stage(WITH_HEXL, "SEAL 4.1.2 with HEXL"),
        Stage(
            "pyfhel",
            f"Pyfhel {sources.PYFHEL_VERSION}",
            inputs=_pyfhel_inputs,
            is_present=builds.has_pyfhel,
            build=builds.build_pyfhel,
            needs=("python", "sources"),
            rebuilt_with=("sources",),
        ),
    ]


def _ours() -> list[Stage]:
    stages = [
        Stage(
            "packages",
            "our packages",
            inputs=lambda: [*map(file_digest, environment.our_packages()), identity()],
            is_present=environment.has_our_packages,
            build=environment.install_our_packages,
            needs=("python",),
        )
    ]
    if builds.has_native_sources():
        stages += [_native_stage(PLAIN), _native_stage(WITH_HEXL)]
    if helib.is_wanted():
        stages.append(_helib_stage())
    return stages


def _openfhe(without: Collection[str]) -> list[Stage]:
    if "openfhe" in without:
        return []  # nothing else needs the other Python
    return [
        Stage(
            "python3.10",
            "Python 3.10, for OpenFHE",
            inputs=lambda: [file_digest(interpreters.HASHES)],
            is_present=lambda: interpreters.chosen() is not None,
            build=interpreters.provide,
            is_optional=True,
        ),
        Stage(
            "openfhe",
            "OpenFHE",
            inputs=lambda: [file_digest(openfhe_environment.REQUIREMENTS), *openfhe_environment.inputs()],
            is_present=openfhe_environment.has_environment,
            build=openfhe_environment.make_environment,
            needs=("python3.10",),
            is_optional=True,
        ),
    ]


def _browser() -> Stage:
    return Stage(
        "chromium",
        "Chromium, for tests of the dashboard",
        inputs=lambda: [system.BROWSER.name],
        is_present=system.BROWSER.is_there,
        build=system.install_browser,
        is_optional=True,
    )


def _instruction_set() -> str:
    """Return what HEXL is compiled for: this CPU, or all with AVX-512."""
    return builds.HEXL_PORTABLE if IS_PORTABLE else cpu_flags()


def _pyfhel_inputs() -> list[str]:
    pinned = pins("cmake", "cython", "ninja", "numpy", "setuptools")
    return [*pinned, compiler_version(), file_digest(builds.PYFHEL_CHECK), identity()]


def _seal_stage(variant: SealVariant, title: str) -> Stage:
    def inputs() -> list[str]:
        settings = [f"{name}={value}" for name, value in builds.SEAL_SETTINGS.items()]
        host = [_instruction_set()] if variant is WITH_HEXL else []
        tools = [*pins("cmake", "ninja"), compiler_version()]
        return [*settings, *tools, *host, *folder_digests(builds.SEAL_CHECK)]

    return Stage(
        variant.name,
        title,
        inputs=inputs,
        is_present=partial(builds.has_seal, variant),
        build=partial(builds.build_seal, variant),
        needs=("python", "sources", "system") if variant is WITH_HEXL else ("python", "sources"),
        rebuilt_with=("sources",),
    )


def _native_stage(variant: SealVariant) -> Stage:
    def inputs() -> list[str]:
        pinned = pins("cmake", "nanobind", "ninja")
        ours = (*folder_digests(builds.NATIVE_SOURCES), *folder_digests(builds.NATIVE_COMMON))
        return [*ours, *pinned, compiler_version(), identity()]

    return Stage(
        f"native-{variant.name}",
        f"native module for {variant.name}",
        inputs=inputs,
        is_present=partial(builds.has_native, variant),
        build=partial(builds.build_native, variant),
        needs=("python", variant.name),
        rebuilt_with=(variant.name,),
    )


def _helib_stage() -> Stage:
    def inputs() -> list[str]:
        return [*helib.inputs(), *pins("cmake", "nanobind", "ninja"), compiler_version(), identity()]

    return Stage(
        "native-helib",
        "native module for HElib",
        inputs=inputs,
        is_present=helib.has_module,
        build=helib.build_module,
        needs=("python", "packages"),
        is_optional=True,
    )
