"""The list of stages: our own, and those of the adapters' recipes."""

from collections.abc import Collection, Iterable
from functools import partial
from graphlib import TopologicalSorter

import environment
import recipes
import sources
import system
from environment import identity
from places import PYTHON, REQUIREMENTS, ROOT, SETUP, compiler_version, file_digest, pins
from runner import Shell, Stage

from ciphermark_adapters import added

# Shared libraries without Python, which workers load in any interpreter. They are next to their sources, where
# ciphermark_measure looks for them. They are for any CPU of its kind: images run on other machines.
_NATIVE = ROOT / "libs" / "measure" / "ciphermark_measure" / "native"
_NATIVE_SOURCES = tuple(_NATIVE / f"{name}.cpp" for name in ("reference_kernel", "allocations", "callgrind"))
_NATIVE_FLAGS = ("-std=c++17", "-O3", "-Wall", "-Wextra", "-fPIC", "-shared")
# The dashboards' package has these files next to its sources, as its wheel does.
_FONTS = ROOT / "dashboards" / "ciphermark_dashboards" / "fonts"
_MAKE_FONTS = SETUP / "fonts.py"


def all_stages(without: Collection[str] = ()) -> list[Stage]:
    """Return the stages in order, without those named and those that need one of them."""
    remaining: list[Stage] = []
    left_out = set(without)
    first = [*_downloads(without), _reference_kernel(), _fonts(), _ours()]
    libraries = [*recipes.stages(without), *_added()]
    for stage in _in_order([*first, *libraries, _browser(), _byte_code(libraries)]):
        if stage.name in left_out or left_out.intersection(stage.needs):
            left_out.add(stage.name)
        else:
            remaining.append(stage)
    return remaining


def _in_order(stages: Iterable[Stage]) -> list[Stage]:
    """Return the stages, each after the stages that it needs."""
    by_name = {stage.name: stage for stage in stages}
    order = TopologicalSorter({name: stage.needs for name, stage in by_name.items()}).static_order()
    return [by_name[name] for name in order]


def _downloads(without: Collection[str]) -> list[Stage]:
    packages = (*system.PACKAGES, *recipes.packages())
    return [
        Stage(
            "system",
            "system packages",
            inputs=lambda: [package.name for package in packages],
            is_present=lambda: not system.missing_packages(packages, without),
            build=partial(system.install_packages, packages, without),
        ),
        Stage(
            "python",
            "Python packages",
            inputs=lambda: [file_digest(REQUIREMENTS), identity()],
            is_present=environment.is_current_environment,
            build=environment.make_environment,
            needs=("system",),
        ),
        sources.stage(recipes.archives()),
    ]


def _ours() -> Stage:
    return Stage(
        "packages",
        "our packages",
        inputs=lambda: [*map(file_digest, environment.our_packages()), identity()],
        is_present=environment.has_our_packages,
        build=environment.install_our_packages,
        needs=("python",),
    )


def _reference_kernel() -> Stage:
    """Return the stage of the reference kernel, without which samples have no interference data, and of the helpers of
    probes.
    """
    libraries = {source: source.with_name(f"_{source.stem}.so") for source in _NATIVE_SOURCES}

    def build(shell: Shell) -> None:
        for source, library in libraries.items():
            shell.run(
                "c++", *_NATIVE_FLAGS, source, "-o", library, advice="the log's first `error:` says why"
            )

    return Stage(
        "reference-kernel",
        "reference kernel, which detects disturbed samples, and helpers of probes",
        inputs=lambda: [*map(file_digest, libraries), compiler_version(), *map(str, libraries.values())],
        is_present=lambda: all(library.exists() for library in libraries.values()),
        build=build,
        needs=("system",),
        is_optional=True,
    )


def _fonts() -> Stage:
    """Return the stage of the font of pages and pictures; without it, they have the system's."""
    return Stage(
        "fonts",
        "Inter, the font of pages and pictures",
        inputs=lambda: [file_digest(_MAKE_FONTS), *pins("fontpkg-inter", "fonttools")],
        is_present=(_FONTS / "inter.woff2").exists,
        build=lambda shell: shell.run(PYTHON, _MAKE_FONTS, _FONTS, advice="see the log"),
        needs=("python",),
        is_optional=True,
    )


def _byte_code(before: Iterable[Stage]) -> Stage:
    """Return the stage that compiles our packages, after stages that may create interpreters which read them."""
    return Stage(
        "byte-code",
        "byte code of our packages",
        inputs=environment.byte_code_inputs,
        is_present=environment.has_byte_code,
        build=environment.compile_our_packages,
        needs=("packages",),
        rebuilt_with=tuple(stage.name for stage in before),
        is_optional=True,
    )


def _added() -> list[Stage]:
    """Return the stage of users' builds, if there are any: their native modules follow our sources."""
    if not added.all_builds():
        return []
    stage = Stage(
        "added-builds",
        "native modules of your own builds",
        inputs=lambda: [f"{name} {build.adapter}" for name, build in added.all_builds().items()],
        is_present=lambda: not any(map(added.is_stale, added.all_builds().values())),
        build=_refresh,
        needs=("python", "packages"),
        is_optional=True,
    )
    return [stage]


def _refresh(shell: Shell) -> None:
    advice = "see the log; `ciphermark build remove` takes one away"
    shell.run(PYTHON, "-m", "ciphermark_benchmark.cli.main", "build", "refresh", advice=advice)


def _browser() -> Stage:
    return Stage(
        "chromium",
        "Chromium, for tests of the dashboard",
        inputs=lambda: [system.BROWSER.name],
        is_present=system.BROWSER.is_there,
        build=system.install_browser,
        needs=("system",),
        is_optional=True,
    )
