"""Computations equal their functions: on plaintext here, on every library in the contract suite."""

from __future__ import annotations

from pathlib import Path

import computations
import numpy as np
import pytest
from hypothesis import given, settings

from ciphermark import computation, dot, greater, integers, matvec, reals, rotate, sign
from ciphermark_adapters import registry
from ciphermark_adapters.registry import Availability
from ciphermark_benchmark.suite import files, plan
from ciphermark_circuits.expressions import Plain
from ciphermark_core.errors import UserError
from ciphermark_measure.parties.in_process import InProcess
from ciphermark_workloads import declarations, user_workloads
from ciphermark_workloads.computation import Computation

CLEARTEXT = registry.load("cleartext")
# The clear adapter computes with doubles, but a library's scales: rounding alone, of values up to 1e3.
CLOSE = 1e-9


def executed(workload: Computation, scheme: str, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """What both parties compute without encryption, and what the function yields."""
    given_input = workload.input(seed, None)
    both = InProcess(workload, CLEARTEXT, workload.parameters(scheme), given_input)
    outputs = both.executed(given_input)["compute"].outputs
    return both.output(outputs, given_input), workload.reference(given_input)


@pytest.mark.parametrize(("name", "scheme"), computations.CELLS)
def test_a_computation_equals_its_function(name: str, scheme: str) -> None:
    workload = computations.ALL[name]
    assert declarations.faults(workload) == []
    actual, expected = executed(workload, scheme)
    if scheme == "ckks":
        np.testing.assert_allclose(actual, expected, rtol=CLOSE, atol=CLOSE)
    else:
        np.testing.assert_array_equal(actual, expected)


def test_horner_takes_three_levels_and_calling_it_computes() -> None:
    horner = computations.ALL["horner"]
    spec = horner.parameters("ckks")
    assert len(spec.modulus_bits or ()) == 5  # two outer primes, and one for each level
    x = np.linspace(-2, 2, 4096)
    assert horner(x) == pytest.approx(horner.reference({"x": x}))


def test_choices_are_several_secure_parameter_sets() -> None:
    first, *others = computations.ALL["horner"].choices("ckks")
    assert first.parameters == computations.ALL["horner"].parameters("ckks")
    assert len({item.parameters for item in (first, *others)}) == len(others) + 1 > 1
    assert {item.name for item in computations.ALL["horner"].decisions("ckks")} >= {
        "N",
        "scale",
        "levels",
        "keys",
    }


@pytest.mark.parametrize("steps", [1, 3, 8, 64])
def test_baby_steps_change_rotations_and_no_result(steps: int) -> None:
    matrix = np.random.default_rng(2).uniform(-1, 1, (8, 16))
    layer = computation(x=reals(16))(lambda x: matvec(matrix, x) ** 2)
    usual, other = (layer.with_options({"baby_steps": number}) for number in (0, steps))
    (found, expected), (same, _) = (executed(each, "ckks") for each in (other, usual))
    assert np.abs(found - expected).max() < CLOSE
    assert np.abs(found - same).max() < CLOSE
    first, *others = layer.choices("ckks")
    assert [item.options["baby_steps"] for item in others if item.parameters == first.parameters] == [1, 4, 8]


FAULTS = {
    "if x > 0: x = -x": "greater(x, 0.5)",
    "if x: x = -x": "a branch on encrypted values",
    "float(x)": "a conversion to a number",
    "x = np.exp(x)": "numpy.exp has no meaning",
    "x = np.abs(x)": "numpy.absolute has no meaning",
    "x = 1 / x": "approximates 1/x",
    "x = x / x": "approximates 1/x",
    "x = x ** 0.5": "an exponent is a whole number",
    "x = x[0]": "no single value is taken",
    "x = sum(x)": "x.sum() adds them",
    "x = x + np.ones(5)": "vectors of 8 and 5 values",
    "x = x == 1": "greater(x, 0.5)",
    "x = np.maximum(x, 0)": "numpy.maximum has no meaning",
    "x = abs(x)": "x * sign(x)",
    "x = x * float('nan')": "finite numbers",
    "x = matvec(np.ones((3, 5)), x)": "8 columns",
    "x = sign(3 * x)": "divide them first",
    "x = x + 'one'": "not str",
}


@pytest.mark.parametrize("line", FAULTS)
def test_what_cannot_be_computed_names_the_line(tmp_path: Path, line: str) -> None:
    (tmp_path / "mine.py").write_text(
        "import numpy as np\nfrom ciphermark import computation, matvec, reals, sign\n\n"
        f"@computation(x=reals(8))\ndef f(x):\n    {line}\n    return x\n"
    )
    with pytest.raises(UserError) as caught:
        user_workloads.sound("mine.py", tmp_path)
    assert str(caught.value).startswith("mine.py:6: ")
    assert FAULTS[line] in str(caught.value)


@pytest.mark.parametrize(
    ("declared", "function", "complaint"),
    [
        ("x=reals(8)", "def f(y):\n    return y", "f does not take the declared inputs"),
        ("x=reals(8), y=integers(8)", "def f(x, y):\n    return x", "declare all inputs as one of them"),
        ("x=reals(8, public=True)", "def f(x):\n    return x", "no input is encrypted"),
        ("x=3", "def f(x):\n    return x", "x is not declared"),
        ("x=reals(8)", "def f(x):\n    return 1.0", "does not depend on encrypted values"),
        ("x=reals(8, low=2, high=1)", "def f(x):\n    return x", "the lower one first"),
        ("x=integers(8, high=9)", "def f(x):\n    return x * 0.5", "this number is not whole"),
        ("x=reals(8, high=1.0)", "def f(x):\n    return x ** 4096 * 2 ** 40", "mine.py:5"),
    ],
)
def test_what_is_no_computation_is_refused(
    tmp_path: Path, declared: str, function: str, complaint: str
) -> None:
    (tmp_path / "mine.py").write_text(
        f"from ciphermark import computation, integers, reals\n\n@computation({declared})\n{function}\n"
    )
    with pytest.raises(UserError) as caught:
        user_workloads.sound("mine.py", tmp_path)
    assert complaint in str(caught.value)
    assert str(caught.value).startswith("mine.py:")


def test_a_file_may_have_several_computations(tmp_path: Path) -> None:
    text = user_workloads.computation_template()
    (tmp_path / "mine.py").write_text(text + text[text.index("@") :].replace("def horner", "def other"))
    with pytest.raises(UserError, match=r"2 workloads \(horner, other\): name one, as in mine.py:horner"):
        user_workloads.load("mine.py", tmp_path)
    assert user_workloads.load("mine.py:other", tmp_path).name == "other"
    copy = user_workloads.copied("mine.py:other", tmp_path)
    assert copy.name.startswith("other@")
    assert copy.text.endswith("\n\nWORKLOADS = (other,)\n")


def test_given_values_must_be_those_declared() -> None:
    horner = computations.ALL["horner"]
    assert horner.given_input([1.0] * 4096)["x"].sum() == 4096
    with pytest.raises(UserError, match="takes 4096 values"):
        horner.given_input([1.0])
    with pytest.raises(UserError, match=r"value 1 is 3, outside of its bounds \[-2, 2\]"):
        horner.given_input([1.0, 3.0, *[0.0] * 4094])


# --- Random functions -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_whole", [False, True])
@settings(max_examples=40, deadline=None)
@given(computations.programs())
def test_random_functions_equal_themselves(is_whole: bool, program) -> None:
    length, steps = program
    declared = integers(length, -2, 2) if is_whole else reals(length)
    try:
        workload = computation(x=declared, y=declared)(computations.function_of(length, steps, is_whole))
        scheme = workload.schemes[0]
        workload.parameters(scheme)
    except UserError as error:  # too deep, or values too large
        if any(
            words in str(error)
            for words in ("128 bits secure", "exceed any number", "does not depend", "is 0")
        ):
            return
        raise
    actual, expected = executed(workload, scheme)
    if is_whole:
        np.testing.assert_array_equal(actual, expected)
    else:
        np.testing.assert_allclose(actual, expected, rtol=CLOSE, atol=CLOSE * max(1, np.abs(expected).max()))


def test_functions_of_arrays_are_numpy() -> None:
    x = np.arange(4.0)
    assert rotate(x, 1).tolist() == x.view(Plain).rotate(1).tolist() == [1, 2, 3, 0]
    assert dot(x, x) == 14
    assert matvec(np.eye(4), x).tolist() == x.tolist()
    assert np.abs(sign(np.array([-0.5, 0.5])) - [-1, 1]).max() < 0.02
    assert np.abs(greater(np.array([0.2, 0.9]), 0.5) - [0, 1]).max() < 0.02


def test_a_library_without_parameters_for_it_is_unsupported_in_plans(tmp_path: Path) -> None:
    """OpenFHE's primes are too small for results of 1,000 within 1e-5; SEAL's are not."""
    (tmp_path / "mine.py").write_text(
        "from ciphermark import computation, dot, reals\n\n@computation(x=reals(1000), y=reals(1000), tolerance=1e-5)\n"
        "def large(x, y):\n    return dot(x, y) ** 2 / 1000\n"
    )
    name = user_workloads.copied("mine.py", tmp_path).name
    suite = files.parse(
        f"{{name: a, experiments: [{{kind: own, workloads: [{name}], variants: [seal, openfhe]}}]}}", "a"
    )
    available = {
        variant: Availability(registry.declaration(variant), None, "") for variant in ("seal", "openfhe")
    }
    reasons = {item.case.variant: item.reason for item in plan.cases(suite, available)}
    assert reasons["seal"] is None
    assert "no ring up to N = 131072" in (reasons["openfhe"] or "")
