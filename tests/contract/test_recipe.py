"""Follows docs/how-to/add-a-library.md to the letter: every ``sh`` block is executed, in order, in one shell."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

import pytest
import tomllib

from ciphermark_adapters import registry
from ciphermark_adapters._template.adapter import TemplateAdapter
from ciphermark_adapters._template.declaration import DECLARATIONS as TEMPLATE
from ciphermark_contract.keys import NO_KEYS

from . import examples, harness
from .checks.refusals import unsupported

REPOSITORY = Path(__file__).parents[2]
DOCUMENT = REPOSITORY / "docs" / "how-to" / "add-a-library.md"
PROGRAMS = Path(sys.executable).parent
STEP = "== step "
MIN_TESTS = 150


def _steps() -> dict[str, str]:
    """The commands under each heading."""
    found = {}
    for section in re.split(r"^## ", DOCUMENT.read_text(), flags=re.MULTILINE)[1:]:
        heading = section.partition("\n")[0]
        blocks = re.findall(r"^```sh\n(.*?)^```$", section, flags=re.MULTILINE | re.DOTALL)
        if blocks:
            found[heading] = "".join(blocks).replace(".venv/bin/", f"{PROGRAMS}/")
    return found


class Reader:
    """Somebody with an empty data directory, in the repository's root."""

    def __init__(self, data_directory: Path) -> None:
        self.data_directory = data_directory
        ours = {
            "HOME": str(data_directory),
            "CIPHERMARK_DATA": str(data_directory / "ciphermark"),
            "COLUMNS": "200",
        }
        # pytest would close the folder of all its sessions to others, and so to their PostgreSQL servers, which as
        # root's run as another user, while they start: see tests/contract/elsewhere.py.
        ours["PYTEST_DEBUG_TEMPROOT"] = str(data_directory)
        theirs = ("CIPHERMARK_ADAPTER_PATH", "CIPHERMARK_DATABASE_URL", "PYTEST_ADDOPTS")
        self.environment = {name: value for name, value in os.environ.items() if name not in theirs} | ours

    def types(self, script: str) -> tuple[int, str]:
        """Exit code and everything printed."""
        done = subprocess.run(
            ["bash", "-eu", "-c", script],
            cwd=REPOSITORY,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=1100,  # it may be the whole suite, on a host that other tests keep busy
            check=False,
        )
        return done.returncode, done.stdout


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    reader = Reader(tmp_path_factory.mktemp("reader"))
    yield reader
    reader.types(f"{PROGRAMS}/ciphermark db stop")


@pytest.fixture(scope="module")
def printed(reader: Reader) -> dict[str, str]:
    """What each step prints, after all of them have worked."""
    script = "\n".join(f"echo '{STEP}{heading}'\n{commands}" for heading, commands in _steps().items())
    code, output = reader.types(script)
    parts = output.split(STEP)[1:]
    assert code == 0, f"this step of {DOCUMENT.name} does not work:\n{parts[-1][-3000:]}"
    return {part.partition("\n")[0]: part.partition("\n")[2] for part in parts}


def _step(printed: dict[str, str], number: int) -> str:
    (text,) = (text for heading, text in printed.items() if heading.startswith(f"{number}."))
    return text


def test_every_step_but_the_last_has_commands() -> None:
    numbers = [int(heading.partition(".")[0]) for heading in _steps()]
    assert numbers == list(range(1, 8))


def test_every_command_of_the_document_is_executed() -> None:
    fences = re.findall(r"^```(\w*)$", DOCUMENT.read_text(), flags=re.MULTILINE)
    assert set(fences) == {"sh", "toml", ""}
    assert fences.count("sh") == sum(1 for _ in re.finditer(r"^```sh$", DOCUMENT.read_text(), re.MULTILINE))


def test_it_is_listed(printed: dict[str, str]) -> None:
    assert re.search(r"^mylib +installed", _step(printed, 4), re.MULTILINE)


def test_it_passes_the_contract_suite(printed: dict[str, str]) -> None:
    summary = _step(printed, 5).strip().splitlines()[-1]
    passed = re.search(r"(\d+) passed", summary)
    assert passed, summary
    assert int(passed[1]) > MIN_TESTS, summary
    assert "failed" not in summary
    assert "error" not in summary


def test_it_is_measured(printed: dict[str, str]) -> None:
    output = _step(printed, 6)
    assert re.search(r"^Outcomes: 4 ok$", output, re.MULTILINE), output
    assert re.findall(r"^mylib +(add|mul) +\d+ +[\d.e-]+ *$", output, re.MULTILINE) in (
        ["add", "mul"],
        ["mul", "add"],
    ), output


def test_the_table_names_parts_of_the_suite(printed: dict[str, str]) -> None:
    parts = re.findall(r"^\|.*\| `(\w+)` \|$", DOCUMENT.read_text(), re.MULTILINE)
    assert len(parts) >= 7
    for part in parts:
        assert (Path(__file__).parent / f"test_{part}.py").exists(), part


def test_what_is_to_be_replaced_is_marked(printed: dict[str, str]) -> None:
    found = _step(printed, 7)
    for file in ("declaration.py", "adapter.py", "__init__.py"):
        assert re.search(rf"mylib/{file}:\d+:.*REPLACE", found), file


def test_no_trace_of_the_template_is_left(reader: Reader, printed: dict[str, str]) -> None:
    texts = [file.read_text() for file in (reader.data_directory / "adapters" / "mylib").glob("*.py")]
    assert len(texts) == 4
    assert not [text for text in texts if "template" in text.lower()]


# what is wrong: (what stands in the template, what takes its place, the tests that must find it)
MISTAKES = {
    "a wrong result": ("np.add(a.slots, b.slots)", "np.add(a.slots, a.slots)", "test_primitive and add"),
    "declared, but missing": (
        '"rescale", "mod_switch")',
        '"rescale", "mod_switch", "negate")',
        "test_primitive",
    ),
    "no reason": ('"negate": "', '"square": "', "test_declaration"),
}


@pytest.mark.extended
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_made_on_the_way_is_found(
    reader: Reader, printed: dict[str, str], tmp_path: Path, mistake: str
) -> None:
    """The restricted suite really tests the reader's folder."""
    right, wrong, tests = MISTAKES[mistake]
    folder = shutil.copytree(reader.data_directory / "adapters" / "mylib", tmp_path / "mylib")
    (file,) = (item for item in folder.glob("*.py") if right in item.read_text())
    file.write_text(file.read_text().replace(right, wrong))
    command = f"{PROGRAMS}/python -m pytest tests/contract --variant mylib -q -k '{tests}'"
    code, output = reader.types(f"CIPHERMARK_ADAPTER_PATH={tmp_path} {command}")
    assert code == 1, output[-2000:]
    assert re.search(r"\d+ (failed|error)", output.splitlines()[-1])


def test_an_unknown_variant_is_named(reader: Reader) -> None:
    code, output = reader.types(f"{PROGRAMS}/python -m pytest tests/contract --variant mylib")
    assert code == 4
    assert "unknown variant 'mylib'; known variants: cleartext" in output


def _digests(root: Path) -> dict[str, str]:
    files = (path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Step 8 on a copy of the repository: the same folder beside the others, and nothing else touched."""
    root = tmp_path_factory.mktemp("copy")
    leave = shutil.ignore_patterns("__pycache__", ".*", "*.so")
    for name in ("libs", "setup"):
        shutil.copytree(REPOSITORY / name, root / name, ignore=leave)
    for name in ("Dockerfile", "pyproject.toml"):
        shutil.copy(REPOSITORY / name, root / name)
    before = _digests(root)
    adapters = root / "libs" / "adapters" / "ciphermark_adapters"
    shutil.copytree(adapters / "_template", adapters / "mylib")
    for file in (adapters / "mylib").glob("*.py"):
        file.write_text(file.read_text().replace("template", "mylib").replace("Template", "Mylib"))
    touched = {name for name, digest in _digests(root).items() if before.get(name) != digest}
    assert {str(Path(name).parent) for name in touched} == {str((adapters / "mylib").relative_to(root))}
    return root


def _python(root: Path, code: str) -> str:
    paths = [str(path.parent) for path in root.glob("libs/*/pyproject.toml")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_it_works_among_the_shipped_adapters_too(shipped: Path) -> None:
    assert (
        _python(
            shipped, "from ciphermark_adapters import registry; print(registry.load('mylib').info().variant)"
        )
        == "mylib"
    )


def test_a_shipped_library_has_its_own_colour_in_charts(shipped: Path) -> None:
    names = sorted(["mylib", *(name for name, item in registry.shipped().items() if not item.is_reference)])
    code = f"from ciphermark_present import charting; print(*(charting.look(n, {names})[0] for n in {names}))"
    colours = dict(zip(names, _python(shipped, code).split(), strict=True))
    assert colours["mylib"] == TEMPLATE[0].look[0]  # type: ignore[index]
    assert len(set(colours.values())) == len(names)


def test_the_set_up_installs_a_shipped_library(shipped: Path) -> None:
    listed = subprocess.run(
        [sys.executable, "setup/install.py", "--list"],
        cwd=shipped,
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.search(r"^mylib +to do +Mylib$", listed.stdout, re.MULTILINE)


def test_images_take_a_shipped_library_from_its_recipe(shipped: Path, tmp_path: Path) -> None:
    """By the very command that selects what the layers of libraries depend on."""
    stage = (shipped / "Dockerfile").read_text().partition(" AS recipes\n")[2].partition("\nFROM ")[0]
    command = stage.partition("\nRUN ")[2].replace("\\\n", " ")
    for folder in ("recipes", "native"):
        command = command.replace(f" /{folder}", f" {tmp_path / folder}")
    subprocess.run(
        ["sh", "-ec", command], cwd=shipped / "libs" / "adapters" / "ciphermark_adapters", check=True
    )
    assert [path.name for path in (tmp_path / "recipes" / "mylib").iterdir()] == ["recipe.py"]
    assert (tmp_path / "recipes" / "seal" / "check" / "seal_check.cpp").is_file()
    assert (tmp_path / "native" / "seal" / "native" / "CMakeLists.txt").is_file()
    alone = tmp_path / "layer"  # recipes load with nothing else of their adapters
    shutil.copytree(shipped / "setup", alone / "setup")
    shutil.copytree(tmp_path / "recipes", alone / "libs" / "adapters" / "ciphermark_adapters")
    subprocess.run([sys.executable, "-E", "-S", alone / "setup" / "install.py", "--help"], check=True)


def test_types_are_checked_though_the_library_has_none(shipped: Path) -> None:
    overrides = tomllib.loads((shipped / "pyproject.toml").read_text())["tool"]["mypy"]["overrides"]
    codes = [
        code
        for item in overrides
        for pattern in item["module"]
        if fnmatch("ciphermark_adapters.mylib.adapter", pattern)
        for code in item.get("disable_error_code", ())
    ]
    assert {"import-untyped", "import-not-found"} <= set(codes)


# -- the template itself ----------------------------------------------------------------------------------------


def test_the_template_is_not_a_variant() -> None:
    assert TEMPLATE[0].variant not in registry.declarations()


def test_the_template_wants_keys_where_a_library_would() -> None:
    """What the suite leaves out for a pseudo-library, and expects as soon as ``is_reference`` is removed."""
    declared = replace(TEMPLATE[0], is_reference=False)
    adapter = TemplateAdapter(declared)
    subject = harness.subject_of(declared, adapter, harness.SPECS["bfv"])
    unsupported(lambda: subject.evaluator.apply("rotate", subject.encrypted(subject.vector(0)), 3))
    unsupported(lambda: subject.evaluator.bind("rotate", [(subject.encrypted(subject.vector(0)), 3)]))
    owner = adapter.key_owner(subject.parameters, NO_KEYS)
    evaluator = adapter.evaluator(owner.public_material())
    for operation in ("relinearize", "rotate"):
        row = examples.plausible(subject, operation)
        unsupported(lambda name=operation, row=row: evaluator.apply(name, *row))
