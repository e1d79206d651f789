"""Files of workloads are loaded, or refused with the reason; options are checked; one file is enough for a workload."""

from __future__ import annotations

import copy
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np
import pytest

from ciphermark_adapters import registry
from ciphermark_core import primes
from ciphermark_core.containment import Limits
from ciphermark_core.errors import UserError
from ciphermark_core.model import ParameterSpec
from ciphermark_workloads import declarations, options, user_workloads
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.data_sets import DATA_SETS
from ciphermark_workloads.parameters import Override, changed
from ciphermark_workloads.programs import Call, traced
from ciphermark_workloads.workload import Truth

REPOSITORY = Path(__file__).parents[2]


class Options(msgspec.Struct, frozen=True):
    size: Annotated[int, msgspec.Meta(ge=2, le=64, description="rows")] = 32
    share: Annotated[float, msgspec.Meta(description="of all", extra={"is_newer": True})] = 0.5


def test_options_are_read_and_become_dimensions():
    assert options.to_case(options.read(Options, {}, "mine")) == {"size": 32}
    chosen = options.read(Options, {"size": 8, "share": 0.25}, "mine")
    assert options.to_case(chosen) == {"size": 8, "share": 0.25}
    assert options.of_case({"size": 8, "inputs_per_pass": 4, "data_set": "boston"}) == {"size": 8}
    assert [item.sentence for item in options.declared(Options)] == ["rows", "of all"]
    assert list(options.combinations({"size": [8, 16], "share": [0.5]})) == [
        {"size": 8, "share": 0.5},
        {"size": 16, "share": 0.5},
    ]


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"sise": 8}, "mine has no option 'sise'; did you mean 'size'?; it has size, share"),
        ({"size": 1}, "Expected `int` >= 2"),
        ({"size": "many"}, "Expected `int`, got `str`"),
    ],
)
def test_options_that_cannot_be_are_refused(values, complaint):
    with pytest.raises(UserError, match=complaint.replace("?", r"\?")):
        options.read(Options, values, "mine")


def test_an_instance_keeps_its_options_to_itself():
    workload = WORKLOADS["lmc-plain"]
    other = workload.with_options({"test_share": 0.4})
    assert (other.options.test_share, workload.options.test_share) == (0.4, 0.2)
    assert other.name == workload.name


@pytest.mark.parametrize(
    ("spec", "override", "expected"),
    [
        (ParameterSpec("ckks", 8192, (60, 40, 60), scale_bits=40), Override(plain_modulus=97), {}),
        (
            ParameterSpec("ckks", 8192, (60, 40, 60), scale_bits=40),
            Override(ring_dimension=16384, security=0),
            {"ring_dimension": 16384, "security": 0},
        ),
    ],
)
def test_a_parameter_set_is_overridden(spec, override, expected):
    changes = {
        name: getattr(changed(spec, override), name)
        for name in spec.__slots__
        if getattr(changed(spec, override), name) != getattr(spec, name)
    }
    assert changes == expected


def test_a_plaintext_modulus_follows_the_ring():
    spec = ParameterSpec("bfv", 4096, (60, 49), plain_modulus=primes.batching_modulus(28, 4096))
    other = changed(spec, Override(ring_dimension=32768, scale_bits=30))
    assert (other.ring_dimension, other.scale_bits) == (32768, None)
    assert primes.batches(other.plain_modulus, 32768)
    assert other.plain_modulus.bit_length() == 28
    assert changed(spec, Override(plain_modulus=65537)).plain_modulus == 65537
    smaller = changed(spec, Override(plain_modulus_bits=20, ring_dimension=8192))
    assert smaller.plain_modulus == primes.batching_modulus(20, 8192)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("x = 1\n", "mine.py: no class below Workload in it"),
        ("import nothing_of_that_name\nclass A: ...\n", "mine.py:1, in <module>: ModuleNotFoundError"),
        ("def f(:\n", "mine.py:1: SyntaxError"),
        ("\n1 / 0\nclass A: ...\n", "mine.py:2, in <module>: ZeroDivisionError: division by zero"),
        ("\n1 / 0\n", "mine.py: no class below Workload in it"),  # nothing of it is executed
        (
            "\nclass A: ...\nraise SystemExit(0)\n",
            "mine.py:3, in <module>: it ends the program (SystemExit: 0)",
        ),
        (
            "from ciphermark_workloads.workload import Workload\nclass A(Workload):\n    name = 'a'\n",
            "mine.py: A does not say circuit, input, output, parameters, reference, vectors",
        ),
    ],
)
def test_a_file_that_is_no_workload_is_told(tmp_path, text, complaint):
    (tmp_path / "mine.py").write_text(text)
    with pytest.raises(UserError) as caught:
        user_workloads.load("mine.py", tmp_path)
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("tolerances", "found", "complaint"),
    [
        ("tolerance = 1e-4", [1000.00029, 1.0], "value 0 is 1000.00029, and 1000 was expected"),
        ("tolerance = 1e-4", [1000.0, 1.00009], None),
        ("relative_tolerance = 1e-4", [1000.09, 1.0], None),
        ("relative_tolerance = 1e-4", [1000.0, 1.11], "value 1 is 1.11, and 1 was expected"),
        ("", [1000.0, float("nan")], "value 1 is nan, and 1 was expected"),
    ],
)
def test_a_tolerance_is_absolute_unless_it_says_otherwise(tmp_path, tolerances, found, complaint):
    text = user_workloads.template().replace("    tolerance = 1e-3", f"    {tolerances}")
    (tmp_path / "mine.py").write_text(text)
    workload = user_workloads.load("mine.py", tmp_path)
    expected = np.array([1000.0, 1.0])
    parameters = registry.load("cleartext").resolve(workload.parameters("ckks"))
    judgement = workload.judge(np.array(found), Truth(None, expected, expected, parameters))
    assert judgement.accuracy.incorrect_slots == (complaint is not None)
    assert (judgement.complaint is None) == (complaint is None)
    if complaint is not None:
        assert f"1 of 2 values are incorrect: {complaint}" in judgement.complaint
        assert "is allowed" in judgement.complaint


BEFORE_OPTIONS = "class Options("
DAEMONS = (
    "import subprocess\nfor _ in range(3):\n    subprocess.Popen(['sleep', '600'], start_new_session=True)\n"
)


@pytest.mark.parametrize(
    ("deed", "complaint"),
    [
        (
            "while True:\n    pass\n",
            r"mine.py:\d+, in <module>: it ended early: it took longer than 3 s",
        ),
        ("import os\nos._exit(0)\n", r"mine.py: it ended early: exit code 0"),
        ("held = bytes(2 << 30)\n", r"mine.py:\d+, in <module>: MemoryError"),
        (
            "import mmap\nheld = mmap.mmap(-1, 1 << 30)\nfor _ in range(1 << 10):\n    held.write(bytes(1 << 20))\n"
            "while True:\n    pass\n",
            r"mine.py: it ended early: its processes took more than 900 MB together",
        ),
        (DAEMONS, "mine.py: loading it leaves processes running: 3, which were ended"),
    ],
    ids=["endless", "ends", "memory", "shared memory", "daemons"],
)
def test_a_file_is_loaded_by_another_process_first(tmp_path, deed, complaint):
    text = user_workloads.template().replace(BEFORE_OPTIONS, f"{deed}\n\n{BEFORE_OPTIONS}")
    (tmp_path / "mine.py").write_text(text)
    with pytest.raises(UserError, match=complaint):
        user_workloads.copied("mine.py", tmp_path, Limits(3.0 if "took longer" in complaint else 60.0, 900))


FIRST = """
import os, pathlib
_seen = pathlib.Path(__file__).with_name("seen")
IS_FIRST = not _seen.exists()
_seen.touch()
if not IS_FIRST:
"""


@pytest.mark.parametrize(
    ("deed", "complaint"),
    [
        ("__import__('time').sleep(600)", r"mine.py:\d+, in <module>: TimeoutError: it took longer than 3 s"),
        ("os._exit(0)", r"mine.py:\d+, in <module>: EndedEarlyError: exit code 0"),
        ("held = bytes(2 << 30)", r"mine.py:\d+, in <module>: MemoryError"),
        (
            "__import__('subprocess').Popen(['sleep', '600'], start_new_session=True)",
            "mine.py: loading it leaves processes running: 1, which were ended",
        ),
        ("pass", r"mine.py: it declares something else each time .*: inner-product \(.*, then other \("),
    ],
    ids=["endless", "ends", "memory", "daemon", "another"],
)
def test_a_file_that_does_something_else_the_second_time_is_refused(tmp_path, deed, complaint):
    text = user_workloads.template().replace(BEFORE_OPTIONS, f"{FIRST}    {deed}\n\n\n{BEFORE_OPTIONS}")
    if deed == "pass":
        text = text.replace('name = "inner-product"', 'name = "inner-product" if IS_FIRST else "other"')
    (tmp_path / "mine.py").write_text(text)
    with pytest.raises(UserError, match=complaint):
        user_workloads.copied("mine.py", tmp_path, Limits(3.0 if "took longer" in complaint else 60.0, 900))


class _Pretending:
    """As ``dict[str, float]`` in Python 3.10: a class to ``isclass``, and none to ``issubclass``."""

    __class__ = type


def test_an_alias_is_no_workload(tmp_path):
    """Of what a file imports: an alias has no subclasses, whatever it pretends to be."""
    aliases = "from collections.abc import Mapping\nRow = dict[str, float]\nTable = Mapping[str, Row]\n"
    pretending = f"import sys\nAlias = sys.modules[{__name__!r}]._Pretending()\n"
    (tmp_path / "mine.py").write_text(user_workloads.template() + aliases + pretending)
    assert user_workloads.load("mine.py", tmp_path).name == "inner-product"
    assert user_workloads.load("mine.py:InnerProduct", tmp_path).name == "inner-product"
    (tmp_path / "none.py").write_text(aliases + pretending)
    with pytest.raises(UserError, match=r"none.py: no class below Workload in it"):
        user_workloads.load("none.py", tmp_path)


def test_one_of_several_workloads_has_to_be_named(tmp_path):
    text = user_workloads.template()
    (tmp_path / "mine.py").write_text(text + "\n\nclass Other(InnerProduct):\n    name = 'other'\n")
    with pytest.raises(UserError, match=r"has 2 workloads \(InnerProduct, Other\): name one"):
        user_workloads.load("mine.py", tmp_path)
    assert user_workloads.load("mine.py:Other", tmp_path).name == "other"
    with pytest.raises(UserError, match="no workload 'Othar'; did you mean 'Other'"):
        user_workloads.load("mine.py:Othar", tmp_path)
    with pytest.raises(UserError, match="there is no such file"):
        user_workloads.load("nothing.py", tmp_path)


def test_a_dump_of_a_loop_tells_its_place():
    dump = (
        "Timeout (0:00:05)!\nThread 0x1 (most recent call first):\n"
        '  File "/usr/lib/x.py", line 3 in inner\n  File "/somewhere/mine.py", line 41 in circuit\n'
    )
    assert user_workloads.place_in_dump(dump, lambda path: path.name == "mine.py") == "mine.py:41, in circuit"
    assert user_workloads.place_in_dump(dump, lambda path: path.name == "other.py") is None
    assert user_workloads.place_in_copy(dump) is None
    of_run = dump.replace("mine.py", "mine@3b5d12ab.py")
    assert user_workloads.place_in_copy(of_run) == "mine@3b5d12ab.py:41, in circuit"


# What takes long, and what is gigabytes; tests of these families look at it, of retrieval in a small ring.
FAMILIES_ELSEWHERE = ("retrieval", "micro")
ELSEWHERE = (
    "lr-k5",
    "lola-cifar",
    *(name for name in WORKLOADS if WORKLOADS[name].family in FAMILIES_ELSEWHERE),
)


@pytest.mark.parametrize("name", [name for name in WORKLOADS if not name.startswith(ELSEWHERE)])
def test_a_program_does_not_depend_on_the_values_of_inputs(name):
    """Two inputs, one program: what the server is told in the clear may differ, so that it is held fixed."""
    workload = WORKLOADS[name]
    data = DATA_SETS["boston"]() if workload.takes_data else None
    scheme = workload.schemes[0]
    parameters = registry.load("cleartext").resolve(workload.parameters(scheme))
    inputs = [workload.input(seed, data) for seed in (1, 2)]
    declared = registry.declaration("cleartext")
    state, public, differs = (), {}, False
    for stage in workload.stages:
        public = {**public, **workload.public(stage.name, inputs[0], parameters)}
        if not stage.has_server:
            continue
        vectors = [workload.vectors(stage.name, given, parameters) for given in inputs]
        assert len(vectors[0]) == len(vectors[1])
        differs |= any(not np.array_equal(a, b) for a, b in zip(*vectors, strict=True))
        call = Call(stage.name, len(vectors[0]), state, public)
        one, other = (traced(workload, call, parameters, declared) for _ in inputs)
        assert one.program.digest == other.program.digest
        state, public = one.returned, {}
    assert differs  # in some stage: a model that is encrypted, too, is the same for all inputs


def test_a_workload_is_one_file(tmp_path):
    """The recipe of CONTRIBUTING, on a copy: nothing else names the new file, and it is found and right."""
    copy = tmp_path / "workloads"
    shutil.copytree(REPOSITORY / "libs" / "workloads", copy, ignore=shutil.ignore_patterns("__pycache__"))
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    added = copy / "ciphermark_workloads" / "learning" / "inner_product.py"
    added.write_text(user_workloads.template())
    command = [
        "ciphermark_measure.parties.examination",
        "inner-product",
        "--variant",
        "cleartext",
        "--scheme",
        "ckks",
    ]
    done = subprocess.run(
        [sys.executable, "-B", "-m", *command],
        env=os.environ | {"PYTHONPATH": str(copy)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert '"verdict":"correct"' in done.stdout, done.stderr
    family = "from ciphermark_workloads.catalogue import WORKLOADS; print(WORKLOADS['inner-product'].family)"
    environment = os.environ | {"PYTHONPATH": str(copy)}
    assert (
        subprocess.check_output([sys.executable, "-Bc", family], env=environment, text=True) == "learning\n"
    )
    changed_files = {
        path for path in copy.rglob("*") if path.is_file() and before.get(path) != path.read_bytes()
    }
    assert changed_files == {added}


class Speechless(Exception):
    def __str__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("x" * 10**6), f"ValueError: {'x' * 500}… (1000000 characters)"),
        (SystemExit("y" * 501), f"it ends the program (SystemExit: {'y' * 500}… (501 characters))"),
        (Speechless(), "Speechless"),
    ],
)
def test_what_an_exception_says_has_bounds(error, words, tmp_path):
    assert user_workloads.explained(error, tmp_path / "mine.py") == words


def test_a_file_too_large_for_a_workload_is_not_read(tmp_path):
    (tmp_path / "mine.py").touch()
    os.truncate(tmp_path / "mine.py", 1 << 40)
    with pytest.raises(UserError, match=r"mine\.py: a workload of more than 16 MiB is not read"):
        user_workloads.load("mine.py", tmp_path)


@pytest.mark.parametrize("field", ["name", "family", "schemes"])
def test_what_is_said_of_a_declaration_has_bounds(field):
    workload = copy.copy(WORKLOADS["lmc-plain"])
    text = "x" * 10**6
    object.__setattr__(workload, field, (text,) if field == "schemes" else text)
    (reason,) = declarations.faults(workload)
    assert len(reason) < 200
