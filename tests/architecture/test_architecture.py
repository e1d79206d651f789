"""Rules of the house that a tool can check."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
MOST_LINES = 400
GENERATED = {"db/ciphermark_db/schema.sql"}  # what the migrations come to

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


@pytest.fixture(scope="module")
def files():
    """Every file that is committed or about to be, by its path in the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPOSITORY,
        capture_output=True,
        check=True,
        text=True,
    )
    return [name for name in listed.stdout.split("\0") if name and (REPOSITORY / name).is_file()]


def test_imports_go_one_way():
    program = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [program, "--no-cache"], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout


def test_no_file_is_long(files):
    code = [
        name
        for name in files
        if name.startswith(("libs/", "services/", "db/", "dashboards/"))
        and name not in GENERATED
        and not name.endswith(".csv")
        and "/migrations/" not in name  # a view is written anew in one step, comments and all
    ]
    assert len(code) > 50
    lines = {name: len((REPOSITORY / name).read_bytes().splitlines()) for name in code}
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}


def test_no_committed_file_names_a_registry(files):
    """Where packages come from is for the machine to know: mirrors differ."""
    naming = {
        (name, host)
        for name in files
        for host in REGISTRIES
        if host.encode() in (REPOSITORY / name).read_bytes()
    }
    assert naming == set()
