"""The bill of materials names what the setup pins, and nothing else."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

SETUP = Path(__file__).parents[2] / "setup"


@pytest.fixture
def sbom(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(SETUP))
    import sbom

    return sbom


def test_every_pinned_package_and_archive_is_in_it_with_its_hashes(sbom) -> None:
    written = json.loads(
        subprocess.run([sys.executable, SETUP / "sbom.py"], capture_output=True, check=True).stdout
    )
    assert written == sbom.document()
    assert (written["bomFormat"], written["specVersion"]) == ("CycloneDX", "1.6")
    components = {(item["name"], item["version"]): item for item in written["components"]}
    texts = [path.read_text() for path in sbom.requirement_files()]
    assert len(texts) == 3
    pinned = {
        tuple(line.split()[0].split("==")) for text in texts for line in text.splitlines() if "==" in line
    }
    archives = {(archive.package, archive.version): archive for archive in sbom.recipes.archives()}
    assert components.keys() == pinned | archives.keys() | _modules()
    digests = {hash_["content"] for item in components.values() for hash_ in item.get("hashes", ())}
    assert digests == {archive.sha256 for archive in archives.values()}
    told = json.dumps(written)
    assert all(digest in told for text in texts for digest in re.findall(r"sha256:([0-9a-f]{64})", text))


def _modules() -> set[tuple[str, str]]:
    """The Go modules whose sources are downloaded: of the others, the hash of a ``go.mod`` is enough."""
    adapters = SETUP.parent / "libs" / "adapters" / "ciphermark_adapters"
    lines = (adapters / "lattigo" / "native" / "go.sum").read_text().splitlines()
    return {(name, version) for name, version, _ in map(str.split, lines) if "/" not in version}


def test_a_package_without_a_hash_is_an_error(sbom, tmp_path: Path) -> None:
    path = tmp_path / "requirements.txt"
    path.write_text(f"one==1.0 \\\n    --hash=sha256:{'0' * 64}\ntwo==2.0\n")
    with pytest.raises(ValueError, match="two has no hash"):
        list(sbom.packages(path))
