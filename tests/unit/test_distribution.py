"""Several processes share the tests by units, of which the longest come first."""

from __future__ import annotations

from pathlib import Path

import distribution
import pytest

from ciphermark_adapters import registry

REPOSITORY = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("test", "unit"),
    [
        ("tests/unit/test_core_primes.py::test_a", "tests/unit/test_core_primes.py"),
        ("tests/unit/test_core_primes.py::test_a[seal-bfv]", "tests/unit/test_core_primes.py"),
        ("tests/contract/test_faults.py::test_a[a cached result]", "tests/contract/test_faults.py"),
        ("tests/contract/test_levels.py::test_a[seal-bfv-add]", "tests/contract[seal]"),
        ("tests/contract/test_levels.py::test_a[seal-hexl-bfv-add]", "tests/contract[seal-hexl]"),
        ("tests/contract/test_values.py::test_b[openfhe-ckks]", "tests/contract[openfhe]"),
        ("tests/contract/test_noise.py::test_c[seal]", "tests/contract[seal]"),
        ("tests/integration/test_docs_findings.py::test_d[1]", "tests/integration[reference]"),
    ],
)
def test_a_unit_is_a_file_or_what_shares_something_costly(test: str, unit: str) -> None:
    assert distribution.unit(test) == unit


def test_what_takes_longest_comes_first_and_the_rest_keeps_its_order() -> None:
    first, last = distribution.LONGEST[0], distribution.LONGEST[-1]
    tests = ["z.py::a", f"{last}::a", "a.py::a", f"{first}::b", f"{first}::a"]
    assert distribution.longest_first(tests, str) == [
        f"{first}::b",
        f"{first}::a",
        f"{last}::a",
        "z.py::a",
        "a.py::a",
    ]


def test_every_unit_that_is_named_exists() -> None:
    files = {str(path.relative_to(REPOSITORY)) for path in (REPOSITORY / "tests").rglob("test_*.py")}
    shared = {f"tests/contract[{name}]" for name in registry.declarations()} | {
        "tests/integration[reference]"
    }
    assert {*distribution.LONGEST} <= files | shared
    assert files >= distribution.REFERENCE
