"""The family ``micro``: secure parameters for all options, inputs in range, programs that no input changes."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pytest
from msgspec.structs import replace

from ciphermark_adapters import registry
from ciphermark_contract.interfaces import Unsupported
from ciphermark_core import security
from ciphermark_core.descriptor import Value
from ciphermark_core.errors import UserError
from ciphermark_core.model import Parameters
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.parameters import Override, recommended
from ciphermark_workloads.programs import all_traced
from ciphermark_workloads.workload import Truth

MICRO = [name for name, workload in WORKLOADS.items() if workload.family == "micro"]
PUBLISHED_RING = [name for name in MICRO if name.endswith("-published") and name != "chi-square-published"]
OF_ARRAYS = [name for name in MICRO if not name.startswith("chi-square")]


def _resolved(name: str, options: Mapping[str, Value]) -> Parameters:
    return registry.load("cleartext").resolve(WORKLOADS[name].with_options(options).parameters("ckks"))


def test_published_circuits_stand_beside_ours() -> None:
    ours = {name for name in MICRO if not name.endswith("-published")}
    assert ours == {"matrix-product", "matrix-product-packed", "logistic", "sign", "chi-square"}
    assert {name for name in MICRO if name.endswith("-published")} == {
        "matrix-product-published",
        "logistic-published",
        "sign-published",
        "chi-square-published",
    }


@pytest.mark.parametrize(
    ("name", "options", "ring", "roomy_ring"),
    [
        ("matrix-product", {}, 8192, 8192),
        ("matrix-product", {"side": 64}, 32768, 32768),
        ("matrix-product", {"side": 8, "blocks": 8}, 8192, 8192),
        ("matrix-product-packed", {}, 8192, 8192),
        ("logistic", {}, 16384, 16384),
        ("logistic", {"degree": 127}, 16384, 16384),
        ("logistic", {"degree": 159}, 32768, 32768),
        ("sign", {}, 16384, 32768),
        ("sign", {"degrees": "15-27"}, 16384, 32768),
        ("sign", {"degrees": "7-15-15"}, 32768, 32768),
        *((name, {}, 32768, 32768) for name in PUBLISHED_RING),
        ("chi-square", {}, 8192, 8192),
        ("chi-square-published", {}, 16384, 16384),
        *((name, {"levels": 10}, 32768, 32768) for name in MICRO),
    ],
)
def test_parameters_are_secure_by_both_tables(
    name: str, options: Mapping[str, Value], ring: int, roomy_ring: int
) -> None:
    parameters = _resolved(name, options)
    assert parameters.ring_dimension == ring
    for table in ("2018", "2024"):
        assert security.level(table, ring, parameters.log_qp) >= 128
    roomy = WORKLOADS[name].with_options(options).roomy_parameters("ckks")
    assert roomy.ring_dimension == roomy_ring


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        ("matrix-product", {"side": 12}, "power of two"),
        ("matrix-product", {"blocks": 3}, "power of two"),
        ("logistic", {"degree": 78}, "odd degree"),
    ],
)
def test_what_no_circuit_can_do_is_unsupported(name: str, options: Mapping[str, Value], reason: str) -> None:
    with pytest.raises(Unsupported, match=reason):
        _resolved(name, options)


@pytest.mark.parametrize(
    ("levels", "ring"), [(12, 32768), (14, 32768), (16, 65536), (18, 65536), (20, 65536)]
)
def test_longer_published_chains_take_larger_rings(levels: int, ring: int) -> None:
    """The 2018 table ends at N = 32768; a digit per prime needs one special prime."""
    parameters = _resolved("sign-published", {"levels": levels})
    assert (parameters.ring_dimension, len(parameters.moduli)) == (ring, levels + 1)
    assert security.level("2024", ring, parameters.log_qp) >= 128


@pytest.mark.parametrize(
    ("level", "table", "ring"),
    [
        (0, "2018", 32768),
        (128, "2024", 32768),
        (192, "2024", 32768),
        (256, "2024", 65536),
        (256, "2018", 32768),
    ],
)
def test_a_higher_security_level_raises_the_ring(level: int, table: security.Table, ring: int) -> None:
    """593 bits. No ring reaches 256 bits by the 2018 table: N stays, and the plan refuses the case with the limit."""
    override = Override(security=level, security_table=table)
    spec = recommended(WORKLOADS["sign-published"], "ckks", registry.declaration("seal"), override)
    assert spec.ring_dimension == ring
    given = replace(override, ring_dimension=16384)
    spec = recommended(WORKLOADS["sign-published"], "ckks", registry.declaration("seal"), given)
    assert spec.ring_dimension == 16384


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("logistic", 25.5),
        ("logistic-published", -26.0),
        ("sign", 1.25),
        ("sign", 0.005),
        ("sign-published", -1.5),
        ("sign-published", math.nan),
    ],
)
def test_a_value_outside_the_interval_is_refused_by_name(name: str, value: float) -> None:
    workload, parameters = WORKLOADS[name], _resolved(name, {})
    workload.require_room(workload.given_input([0.5, -0.5]), parameters)
    with pytest.raises(Unsupported, match=f"value 2 is {value:g}, outside"):
        workload.require_room(workload.given_input([0.5, -0.5, value]), parameters)


@pytest.mark.parametrize("name", ["logistic", "logistic-published", "sign", "sign-published"])
def test_accuracy_against_function_and_polynomial(name: str) -> None:
    """A noise of 1e-6 in every value: the error against the polynomial is that, and the other has approximation too."""
    workload, parameters = WORKLOADS[name], _resolved(name, {})
    given = workload.input(5, None)
    truth = Truth(given, workload.reference(given), workload.expected(given, parameters), parameters)
    judgement = workload.judge(truth.expected + 1e-6, truth)
    assert judgement.results["polynomial_error"] == pytest.approx(1e-6, rel=1e-6)
    assert judgement.accuracy.max_abs_error > 10 * judgement.results["polynomial_error"]


@pytest.mark.parametrize("degrees", ["", "8", "7-", "7-7-14", "seven", "7-7-7-7-7-7"])
def test_degrees_are_odd_numbers(degrees: str) -> None:
    with pytest.raises(UserError, match="degrees"):
        WORKLOADS["sign"].with_options({"degrees": degrees})


@pytest.mark.parametrize("name", OF_ARRAYS)
def test_a_ring_with_too_few_slots_takes_more_ciphertexts_or_is_refused(name: str) -> None:
    workload = WORKLOADS[name]
    spec = workload.parameters("ckks")
    small = registry.load("cleartext").resolve(
        type(spec)("ckks", 1024, spec.modulus_bits, None, 40, security=0)
    )
    given = workload.input(1, None)
    if "matrix" in name:
        with pytest.raises(Unsupported, match="slots"):
            workload.vectors("compute", given, small)
    else:
        vectors = workload.vectors("compute", given, small)
        assert [len(vector) for vector in vectors] == [512] * 16
        assert workload.plaintext_bytes("compute", given, small) == 8 * len(given)


@pytest.mark.parametrize("name", MICRO)
def test_the_program_does_not_depend_on_the_input(name: str) -> None:
    workload, parameters = WORKLOADS[name], _resolved(name, {})
    declared = registry.declaration("cleartext")
    digests = {
        all_traced(workload, workload.input(seed, None), parameters, declared)["compute"].program.digest
        for seed in (1, 2)
    }
    assert len(digests) == 1


def test_points_are_where_the_functions_are_judged() -> None:
    logistic, sign = WORKLOADS["logistic"].input(3, None), WORKLOADS["sign"].input(3, None)
    assert len(logistic) == len(sign) == 8192
    assert np.abs(logistic).max() <= 25
    assert np.histogram(logistic, bins=64, range=(-25, 25))[0].min() == 128
    assert 0.01 <= np.abs(sign).min() < 0.0101
    assert 0.99 < np.abs(sign).max() <= 1
    assert {*np.sign(sign)} == {-1.0, 1.0}


@pytest.mark.parametrize("name", OF_ARRAYS)
def test_one_wrong_value_is_noticed(name: str) -> None:
    workload, parameters = WORKLOADS[name], _resolved(name, {})
    given = workload.input(4, None)
    truth = Truth(given, workload.reference(given), workload.expected(given, parameters), parameters)
    right = workload.judge(truth.expected, truth)
    assert right.complaint is None
    largest = np.abs(truth.expected - truth.reference).max()
    assert right.accuracy.max_abs_error == pytest.approx(largest)
    wrong = truth.expected.copy()
    wrong.flat[7] += 0.1
    assert "1 of" in str(workload.judge(wrong, truth).complaint)


def test_the_published_errors_are_kept() -> None:
    """By the goal of CryptOracle's page: ≤ 5e-5, and no more than the published polynomial's 1.3e-2."""
    for name, most in (("logistic", 5e-5), ("logistic-published", 5.01e-5), ("sign", 1.3e-2)):
        assert WORKLOADS[name].largest_error() <= most
