"""Machine files: faults are refused with their place, and changes apply."""

from __future__ import annotations

import pytest

from ciphermark_benchmark import machine_files
from ciphermark_core.errors import UserError


def described(tmp_path, text: str) -> str:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(UserError) as error:
        machine_files.machine(str(path))
    return str(error.value).replace(str(path), "mine.yaml")


BASE = "title: Mine\nbased_on: craterlake\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("title: Mine\n", "mine.yaml:1: the machine lacks the key 'source'"),
        (BASE + "lanes: -1\n", "mine.yaml:3: lanes: must be greater than 0"),
        (BASE + "lanes: many\n", "mine.yaml:3: lanes: "),
        (BASE + "lane: 4\n", "mine.yaml:3: unknown key 'lane'; did you mean 'lanes'"),
        (BASE + "instructions: {butterfly: 1}\n", "has units or instructions, and not both"),
        (BASE + "hint_factor: 1.5\n", "mine.yaml:3: hint_factor: must be less than or equal to 1"),
        (BASE + "bandwidth: 3 bananas\n", "mine.yaml:3: bandwidth: write a number with a unit"),
        (BASE + "max_ring: 65537\n", "max_ring is a power of two"),
        (BASE + "digits: {128: []}\n", "digits.128: rows have ascending values of up_to"),
        (BASE + "digits: program\nspecial_residues: 2\n", "special_residues contradicts"),
        (BASE + "marks: {bandwith: guessed}\n", "bandwith is no key of a machine; did you mean 'bandwidth'"),
        (
            BASE + "units: {ntt: 1, multiply: 1, add: 1, automorphism: 1, conversion: residues}\n",
            "conversions is for",
        ),
        ("title: Mine\nbased_on: crater\n", "there is no machine 'crater'"),
        ("title: Mine\nbased_on: ./mine.yaml\n", "machines are based on each other"),
        ("- 1\n", "mine.yaml:1: a machine is a mapping with title"),
        ("title: [\n", "not YAML"),
        (BASE + "register_file: .nan\n", "mine.yaml:3: register_file: write a number"),
        (BASE + "ghz: .inf\n", "mine.yaml:3: ghz: must be a finite number"),
        (BASE + "lanes: true\n", "mine.yaml:3: lanes: write a number, not true"),
        (BASE + "digits: {-5: [{up_to: 60, digits: 1}]}\n", "must be greater than or equal to 0"),
        (
            BASE + "marks: {units.ntx: guessed}\n",
            "units.ntx is no key of a machine; did you mean 'units.ntt'",
        ),
        (BASE + "published_ms: {lsmt: {80: 3}}\n", "there is no program 'lsmt'; did you mean 'lstm'"),
        (
            BASE + "digits: {128: [{up_to: 30, digits: 4}]}\nspecial_residues: 6\n",
            "30 residues in digits of 6 special_residues are 5 digits, not 4",
        ),
    ],
)
def test_a_faulty_machine_is_refused_with_its_place(tmp_path, text, words):
    assert words in described(tmp_path, text)


def test_shipped_machines_are_valid_and_changes_apply():
    for name in machine_files.names():
        assert machine_files.machine(name).name == name
    changed = machine_files.machine("craterlake", {"units.ntt": 4, "register_file": "1GiB"})
    assert changed.compute.ntt == 4
    assert changed.register_file_bytes == 1 << 30
    digits = {80: [{"up_to": 60, "digits": 2}]}
    assert machine_files.machine("craterlake", {"digits": digits}).digits_at(80).rows == ((60, 2),)
    assert (
        machine_files.machine("sharp", {"digits": digits, "special_residues": None}).digits_at(80).special
        is None
    )
    with pytest.raises(UserError, match=r"with lanes:.*lanes: must be greater than 0"):
        machine_files.machine("craterlake", {"lanes": 0})
