"""``ciphermark workload``: a workload of one's own from the first line to the check, and everything wrong in one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command import Ciphermark

from ciphermark_adapters import registry
from ciphermark_measure.confinement import forked
from ciphermark_measure.parties.examination import found_in

REPOSITORY = Path(__file__).parents[2]
TUTORIAL = REPOSITORY / "docs" / "tutorials" / "your-own-workload.md"
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
        env=os.environ | {"PATH": path, "COLUMNS": "200", "CIPHERMARK_DATA": str(folder / "data")},
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
    Ciphermark(folder / "data")("workload", "new", str(folder / "mine.py"), "--full")
    return (folder / "mine.py").read_text()


@pytest.fixture
def mine(template, tmp_path):
    """A file with the template, some of it otherwise; and the line of the first change."""

    def made(changes):
        text = template
        for old, new in changes.items():
            assert text.count(old) == 1
            text = text.replace(old, new)
        (tmp_path / "mine.py").write_text(text)
        return tmp_path / "mine.py", 1 + template[: template.index(next(iter(changes)))].count("\n")

    return made


def examined(path):
    """What the process that examines it in the clear would say."""
    return forked(lambda: found_in(str(path), "cleartext", "ckks"), "examines")


ALIASED = "\nRow = dict[str, float]\nTable = Mapping[str, Row]\n"


@pytest.mark.parametrize("is_aliased", [True, pytest.param(False, marks=pytest.mark.extended)])
def test_the_template_is_right_with_every_installed_variant(template, tmp_path, is_aliased):
    """Also where the interpreter is another one, and where aliases are among the names of the file."""
    imports = "from collections.abc import Mapping, Sequence"
    aliased = template.replace("from collections.abc import Sequence", imports) + ALIASED
    (tmp_path / "mine.py").write_text(aliased if is_aliased else template)
    installed = Ciphermark(tmp_path / "data", None, {"COLUMNS": "200", "CIPHERMARK_ADAPTER_PATH": ""})
    checked = installed("check", str(tmp_path / "mine.py"))
    lines = checked.out.splitlines()
    assert lines[-1].endswith("mine.py is correct with every library that supports it")
    verdicts = {line.split()[0]: line.split()[2] for line in lines[:-1]}
    assert verdicts.pop("cleartext") == "correct"
    for variant, verdict in verdicts.items():
        offered = registry.declaration(variant).operations["ckks"]
        assert verdict == ("correct" if {"mul_plain", "rotate"} <= {*offered} else "unsupported")


@pytest.mark.parametrize("error", ["ValueError", "nothing", "IndexError", "AssertionError"])
def test_what_does_not_fit_the_small_ring_is_checked_at_its_own_parameters(mine, error):
    """4,096 slots at N = 8192, and 1,024 in the small ring: whatever the file raises there, or computes."""
    refusal = f"        if parameters.slots < 4096:\n            raise {error}('it does not fit')\n"
    wide = {
        'le=1024, description="elements of the vector")] = 16': 'description="elements of the vector")] = 4096'
    }
    given = "        return [given]\n"
    changed = "        return [given[: parameters.slots]]\n" if error == "nothing" else f"{refusal}{given}"
    found = examined(mine(wide | {given: changed})[0])
    assert found.verdict == "correct", found.text
    assert found.text.startswith("N = 8192; ")


PRODUCTS = '        products = evaluator.managed().apply("mul_plain", inputs[0], weights)\n'
DEEDS = {
    "raises": (PRODUCTS, "        products = inputs[1]\n", "in circuit: IndexError: "),
    "unknown operation": ('"mul_plain", inputs', '"mull_plain", inputs', "mull_plain"),
    "too deep": ("(60, 40, 60)", "(60, 60)", "does not fit its modulus chain"),
    "wrong shape": (
        "return outputs[0][:1]",
        "return outputs[0][:3]",
        "the output has 3 values, and 1 were expected",
    ),
    "wrong value": ("return outputs[0][:1]", "return 2 * outputs[0][:1]", "1 of 1 values are incorrect"),
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
def test_what_is_wrong_in_a_workload_is_found(mine, deed):
    old, new, expected = DEEDS[deed]
    path, line = mine({old: new})
    found = examined(path)
    assert found.verdict == "incorrect"
    assert expected in found.text
    if deed in {"raises", "unknown operation"}:
        assert f"mine.py:{line}, in circuit" in found.text


REFUSED = {
    "name": ('name = "inner-product"', 'name = "Inner Product!"', "the name 'Inner Product!' is not made of"),
    "option": (
        "    length: Annotated",
        "    records: int = 3\n    length: Annotated",
        "its option 'records' means",
    ),
    "key of suites": (
        "    length: Annotated",
        "    threads: int = 3\n    length: Annotated",
        "option 'threads'",
    ),
    "ring": ("8192, (60", "8193, (60", "parameters for ckks have N = 8193, which must be a power of two"),
    "security": ("8192, (60", "4096, (60", "a chain of 160.0 bits at N = 4096 is above 109"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_check_refuses_what_a_suite_refuses_first_and_with_the_same_words(mine, tmp_path, what):
    """Also where cleartext is no part of it: the file is to blame, not the library."""
    old, new, words = REFUSED[what]
    path, _ = mine({old: new})
    ciphermark = Ciphermark(tmp_path / "data", None, {"COLUMNS": "200"})
    suite = ciphermark.suite({"kind": "own", "variants": ["seal"], "workloads": [f"./{path.name}"]})
    planned = ciphermark("suite", "explain", str(suite), code=None)
    checked = ciphermark("check", str(path), "--variant", "seal", code=2)
    if "incorrect" in checked.out:
        assert checked.err == f"{path} is incorrect with seal: see above\n"
    for done in (planned, checked):
        assert words in done.out + done.err
        assert "cleartext" not in done.out + done.err
    assert " correct " not in checked.out


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (*DEEDS["raises"][:2], r"mine.py:{line}, in circuit: IndexError: "),
        (*DEEDS["no Python"][:2], "mine.py:{line}: SyntaxError"),
        (
            "class Options(",
            "raise SystemExit(0)\n\n\nclass Options(",
            "mine.py:{line}, in <module>: it ends the",
        ),
        (
            "        return outputs[0][:1]\n",
            "        __import__('subprocess').Popen(['sleep', '60'])\n        return outputs[0][:1]\n",
            "it leaves processes running: 1, which were ended",
        ),
        (
            PRODUCTS,
            "        while True: __import__('time').sleep(60)\n",
            "mine.py:{line}, in circuit: exceeded the limit of 9 s",
        ),
    ],
    ids=["raises", "no Python", "ends", "forks", "loops"],
)
def test_the_command_tells_what_is_wrong_with_its_line(mine, tmp_path, old, new, told):
    path, line = mine({old: new})
    command = ("check", str(path), "--variant", "cleartext", "--deadline", "9")
    done = Ciphermark(tmp_path / "data", None, {"COLUMNS": "200"})(*command, code=2)
    assert told.format(line=line) in done.out + done.err
