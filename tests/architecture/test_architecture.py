"""Rules of the house that a tool can check."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from house import REPOSITORY, files

PLACES = ("/" + "work", "/" + "root", "/" + "home", "/" + "Users")

# In parts, or this file would name them.
REGISTRIES = tuple(
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("crates", "io"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("proxy", "golang", "org"),
        ("sum", "golang", "org"),
        ("repo1", "maven", "org"),
        ("repo", "maven", "apache", "org"),
        ("deb", "debian", "org"),
        ("archive", "ubuntu", "com"),
        ("docker", "io"),
        ("ghcr", "io"),
        ("quay", "io"),
        ("conda", "anaconda", "org"),
        ("rubygems", "org"),
    )
)


def test_imports_go_one_way():
    program = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [program, "--no-cache"], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout


def test_no_committed_file_names_a_registry():
    """Where packages come from is for the machine to know: mirrors differ."""
    naming = {
        (name, host)
        for name in files()
        for host in REGISTRIES
        if host.encode() in (REPOSITORY / name).read_bytes()
    }
    assert naming == set()


def test_no_committed_file_names_a_place_of_one_machine():
    """Data directories, work folders, and the folder that this repository lies in."""
    naming = {
        (name, place)
        for name in files()
        for place in {*PLACES, str(REPOSITORY)}
        if re.search(
            rb"(?<![\w.$}>])" + re.escape(place.encode()) + rb"(?!\w)", (REPOSITORY / name).read_bytes()
        )
    }
    assert naming == set()
