"""``ciphermark workload``: a workload of one's own from the first line to the check, and everything wrong in one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from command import Ciphermark

from ciphermark_adapters import registry

REPOSITORY = Path(__file__).parents[2]
TUTORIAL = REPOSITORY / "docs" / "your-own-workload.md"
NUMBER = re.compile(r"\d+(\.\d+)?(e[+-]\d+)?")


def shell(command, folder):
    """What a command prints, with our programs found first."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=os.environ | {"PATH": path, "COLUMNS": "200", "CIPHERMARK_HOME": str(folder / "home")},
    )
    return done.stdout + done.stderr


def tutorial():
    """The commands of the tutorial, in order, each with what it says they print."""
    for block in re.findall(r"^```console\n(.*?)^```", TUTORIAL.read_text(), re.M | re.S):
        for part in block.split("$ ")[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def words(text):
    """Without numbers, which differ from run to run, and without the spaces of columns."""
    return " ".join(NUMBER.sub("#", text).split())


@pytest.mark.extended
def test_the_tutorial_prints_what_it_says(tmp_path):
    commands = list(tutorial())
    assert len(commands) >= 6
    for command, output in commands:
        assert words(shell(command, tmp_path)) == words(output), command


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    folder = tmp_path_factory.mktemp("template")
    shell("ciphermark workload new mine.py", folder)
    return (folder / "mine.py").read_text()


@pytest.fixture(scope="module")
def mine(template, tmp_path_factory):
    """What the check in the clear says of the template with some of it otherwise, and the line of that."""

    @cache
    def made(old, new, deadline=60):
        folder = tmp_path_factory.mktemp("mine")
        assert template.count(old) == 1
        (folder / "mine.py").write_text(template.replace(old, new))
        line = 1 + template[: template.index(old)].count("\n")
        command = ("workload", "check", str(folder / "mine.py"), "--variant", "cleartext")
        done = Ciphermark(folder / "home", None, {"COLUMNS": "200"})(
            *command, "--deadline", str(deadline), code=None
        )
        return done.out + done.err, line

    return made


ALIASED = "\nRow = dict[str, float]\nTable = Mapping[str, Row]\n"


@pytest.mark.parametrize("is_aliased", [True, pytest.param(False, marks=pytest.mark.extended)])
def test_the_template_is_right_with_every_installed_variant(template, tmp_path, is_aliased):
    """Also where the interpreter is another one, and where aliases are among the names of the file."""
    imports = "from collections.abc import Mapping, Sequence"
    aliased = template.replace("from collections.abc import Sequence", imports) + ALIASED
    (tmp_path / "mine.py").write_text(aliased if is_aliased else template)
    lines = shell("ciphermark workload check mine.py", tmp_path).splitlines()
    assert lines[-1] == "mine.py is right wherever it can be carried out"
    verdicts = {line.split()[0]: line.split()[2] for line in lines[:-1]}
    assert verdicts.pop("cleartext") == "right"
    for variant, verdict in verdicts.items():
        offered = registry.declaration(variant).operations["ckks"]
        assert verdict == ("right" if {"mul_plain", "rotate"} <= {*offered} else "unsupported")


@pytest.mark.parametrize(
    "error",
    [
        "ValueError",
        "nothing",
        *(pytest.param(name, marks=pytest.mark.extended) for name in ("IndexError", "AssertionError")),
    ],
)
def test_what_does_not_fit_the_small_ring_is_checked_at_its_own_parameters(template, tmp_path, error):
    """4,096 slots at N = 8192, and 1,024 in the small ring: whatever the file raises there, or computes."""
    refusal = f"        if parameters.slots < 4096:\n            raise {error}('it does not fit')\n"
    changes = {
        'le=1024, description="elements of the vector")] = 16': 'description="elements of the vector")] = 4096',
        "        return [given]\n": f"{refusal}        return [given]\n",
    }
    if error == "nothing":
        changes["        return [given]\n"] = "        return [given[: parameters.slots]]\n"
    for old, new in changes.items():
        assert template.count(old) == 1
        template = template.replace(old, new)
    (tmp_path / "mine.py").write_text(template)
    output = shell("ciphermark workload check mine.py --variant cleartext --variant openfhe", tmp_path)
    assert "mine.py is right wherever it can be carried out" in output
    assert "N = 8192" in output


PRODUCTS = '        products = evaluator.managed().apply("mul_plain", inputs[0], weights)\n'
DEEDS = {
    "raises": (PRODUCTS, "        products = inputs[1]\n", "in circuit: IndexError: "),
    "unknown operation": ('"mul_plain", inputs', '"mull_plain", inputs', "mull_plain"),
    "too deep": ("(60, 40, 60)", "(60, 60)", "does not fit its chain"),
    "wrong shape": (
        "return outputs[0][:1]",
        "return outputs[0][:3]",
        "the output has 3 values, and 1 were expected",
    ),
    "wrong value": ("return outputs[0][:1]", "return 2 * outputs[0][:1]", "1 of 1 values are wrong"),
    "not finished": ("    def reference(", "    def refrence(", "InnerProduct does not say reference"),
    "no Python": ("class Options(", "class Options)", "SyntaxError"),
    "keys": (
        "    def vectors(",
        "    def keys(self, parameters):\n        from ciphermark_contract.keys import NO_KEYS\n\n"
        "        return NO_KEYS\n\n    def vectors(",
        "its programs need",
    ),
    "no result": (
        '    title = "',
        '    stages = ()\n    title = "',
        "one stage returns the `result`",
    ),
}


@pytest.mark.parametrize("deed", DEEDS)
def test_what_is_wrong_in_a_workload_is_told(mine, deed):
    old, new, expected = DEEDS[deed]
    told, _ = mine(old, new)
    assert expected in told
    assert "Traceback" not in told
    assert "mine.py" in told


@pytest.mark.parametrize("deed", ["raises", "unknown operation"])
def test_it_is_told_with_its_line(mine, deed):
    told, line = mine(*DEEDS[deed][:2])
    assert f"mine.py:{line}, in circuit" in told


def test_a_loop_is_ended_and_its_line_is_told(mine):
    told, line = mine(PRODUCTS, "        while True:\n            pass\n", deadline=6)
    assert re.search(rf"mine.py:({line}|{line + 1}), in circuit: it took longer than 6 s", told)
