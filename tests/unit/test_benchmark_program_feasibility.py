"""What a workload's programs cannot be executed for is told by the plan, whatever the workload does."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from pydantic import ValidationError

from ciphermark_adapters import registry
from ciphermark_adapters.registry import Availability
from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.data_sets import Known
from ciphermark_benchmark.data_sets.catalogue import Catalogue
from ciphermark_benchmark.suite import estimate, feasibility, files, plan
from ciphermark_benchmark.suite.form import Suite
from ciphermark_contract.keys import KeyRequest
from ciphermark_core import primes
from ciphermark_core.model import Case, ParameterSpec
from ciphermark_workloads import user_workloads
from ciphermark_workloads.catalogue import WORKLOADS

BOSTON = Known("boston", 506, 13)
PRODUCTS = '        products = evaluator.managed().apply("mul_plain", inputs[0], weights)\n'
LINE = 1 + user_workloads.template()[: user_workloads.template().index(PRODUCTS)].count("\n")


LEARNING = {"kind": "learning", "workloads": ["lmc-plain"], "data_sets": ["boston"]}


def case_of(spec):
    return Case("any", "any", "any", spec, 1, "random")


def reasons(folder, name, old, new, variants=("seal",), *, deadline_s=10.0):
    """Why the template, otherwise in one place, cannot be executed: variant by variant."""
    return [item.reason for item in planned(folder, name, old, new, variants, deadline_s=deadline_s)[1]]


def planned(folder, name, old, new, variants=("seal",), *, deadline_s=10.0):
    """A suite of the template, otherwise in one place, and its cases."""
    text = user_workloads.template().replace('name = "inner-product"', f'name = "{name}"')
    assert old in text
    (folder / f"{name}.py").write_text(text.replace(old, new))
    experiment = {"kind": "own", "variants": list(variants), "workloads": [f"./{name}.py"]}
    text = json.dumps({"name": "test", "experiments": [experiment]})
    suite = files.parse(text, "test", Catalogue(DataDirectory(folder / "data", None), {}, folder))
    here = {item: Availability(registry.declaration(item)) for item in variants}
    return suite, plan.cases(suite, here, deadline_s)


def test_what_fits_is_not_refused(tmp_path):
    variants = ("cleartext", "seal", "pyfhel", "openfhe", "helib")
    assert reasons(tmp_path, "fits", "", "", variants) == [None] * len(variants)


def test_a_workload_of_ones_own_is_estimated_by_its_program(tmp_path):
    """Unless it states its own ``pass_s``."""
    small, large, told = (
        estimate.of_plan(cases, suite.budget.budget).seconds
        for suite, cases in (
            planned(tmp_path, "small", "", ""),
            planned(tmp_path, "large", "8192, (60, 40, 60)", "32768, (60, 40, 40, 40, 40, 60)"),
            planned(tmp_path, "told", "tolerance =", "pass_s = 1.0\n    tolerance ="),
        )
    )
    assert small < 2
    assert 2 * small < large
    assert told > 30


def test_the_estimate_of_three_products_is_what_they_take(tmp_path):
    """At N = 16384 with five primes a pass took 41 ms of CPU time with SEAL, and 69 ms with OpenFHE."""
    circuit = "        products = inputs[0]\n        for _ in range(3):\n"
    circuit += "            products = evaluator.managed().apply('mul', products, products)\n"
    circuit += "        return [products]\n"
    text = user_workloads.template().replace("8192, (60, 40, 60)", "16384, (60, 40, 40, 40, 40, 60)")
    (tmp_path / "deep.py").write_text(text.replace(PRODUCTS, circuit))
    experiment = {"kind": "own", "variants": ["seal"], "workloads": ["./deep.py"]}
    catalogue = Catalogue(DataDirectory(tmp_path / "data", None), {}, tmp_path)
    suite = files.parse(json.dumps({"name": "test", "experiments": [experiment]}), "test", catalogue)
    (case,) = plan.cases(suite, {"seal": Availability(registry.declaration("seal"))})
    assert case.pass_time is not None
    assert 0.041 < case.pass_time.seconds < 1.3 * 0.069


def test_a_chain_that_is_too_short_is_told_with_the_depth_and_the_place(tmp_path):
    (reason,) = reasons(tmp_path, "deep", "(60, 40, 60)", "(60, 60)")
    assert reason.startswith(
        f"deep.py:{LINE}, in circuit: the program does not fit its modulus chain, which has 0 levels: it needs a depth "
        "of 1"
    )


@pytest.mark.parametrize(
    ("name", "old", "new", "told"),
    [
        ("unheard", '"mul_plain"', '"mul_plane"', "there is no operation 'mul_plane'; did you mean 'mul_plain'?"),
        ("one-prime", "(60, 40, 60)", "(60,)", "it needs a depth of 1"),
        ("insecure", "8192, (60, 40, 60)", "8192, (60, 40, 40, 40, 60)", "the 2018 table's limit for 128 bits"),
    ],
)  # fmt: skip
def test_what_no_library_has_is_told(tmp_path, name, old, new, told):
    (reason,) = reasons(tmp_path, name, old, new)
    assert told in reason


def test_what_a_variant_lacks_is_told_of_it_alone(tmp_path):
    found = reasons(tmp_path, "lacking", "", "", ("tenseal", "seal"))
    assert found == [f"lacking.py:{LINE + 1}, in circuit: the library has no rotate in ckks", None]


@pytest.mark.parametrize(
    ("what", "circuit"),
    [
        ("loops", "        while True:\n            pass\n"),
        ("raises", "        products = inputs[1]\n"),
        ("ends", "        import os\n\n        os.write(1, b'x')\n        os._exit(0)\n"),
    ],
)
def test_what_a_workload_does_wrong_is_left_to_its_trial(tmp_path, what, circuit, capfd):
    assert reasons(tmp_path, what, PRODUCTS, circuit, ("seal", "cleartext"), deadline_s=1.0) == [None, None]
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    ("request_", "modulus_bits", "told"),
    [
        (
            KeyRequest.of(switching=True),
            (60, 40, 60),
            "Pyfhel has no keys for another secret key in ckks",
        ),
        (KeyRequest.of(relinearization=True), (60,), "a modulus chain of one prime leaves none for it"),
    ],
)
def test_keys_that_there_are_not_are_told(request_, modulus_bits, told, monkeypatch):
    workload = WORKLOADS["lmc-plain"]
    monkeypatch.setattr(type(workload), "keys", lambda *_: request_)
    spec = replace(workload.parameters("ckks"), ring_dimension=8192, modulus_bits=modulus_bits)
    examination = feasibility.ProgramFeasibility().examined(
        workload, case_of(spec), registry.declaration("pyfhel"), BOSTON
    )
    assert told in examination.reason


def test_data_that_are_elsewhere_are_stood_in_for():
    """A data set of another shape that nobody here has: the program goes by its shape."""
    workload, declared = WORKLOADS["lr-k3-encrypted"], registry.declaration("seal")
    spec = workload.parameters("ckks")
    ask = feasibility.ProgramFeasibility().examined
    assert ask(workload, case_of(spec), declared, Known("mine@00000000", 20_000, 40)).reason is None
    wide = ask(workload, case_of(spec), declared, Known("mine@00000001", 20_000, 9_000))
    assert "9001 columns need blocks" in wide.reason


def test_what_a_library_chooses_by_itself_is_left_to_it():
    workload = WORKLOADS["lmc-encrypted"]
    spec = replace(workload.parameters("bfv"), modulus_bits=None)
    examination = feasibility.ProgramFeasibility().examined(
        workload, case_of(spec), registry.declaration("seal"), BOSTON
    )
    assert examination == feasibility.Examination()


def cases_of(**changes):
    experiment = {"kind": "micro", "variants": ["seal"], "workloads": ["logistic"]} | changes
    suite = Suite(name="test", experiments=[experiment])
    here = {item: Availability(registry.declaration(item)) for item in experiment["variants"]}
    return plan.cases(suite, here)


def test_parameters_of_a_suite_are_those_of_its_cases():
    changes = {"modulus_bits": [50, *[40] * 7, 50], "scale_bits": 40, "ring_dimension": [16384, 32768]}
    found = cases_of(**changes, security="none", inputs_per_pass=[1, 8])
    assert [item.reason for item in found] == [None] * 4
    specs = {item.case.parameters for item in found}
    assert specs == {
        ParameterSpec("ckks", ring, (50, *[40] * 7, 50), scale_bits=40, security=0) for ring in (16384, 32768)
    }
    assert [item.case.dimensions.get("inputs_per_pass") for item in found] == [None, 8, None, 8]


def test_a_chain_of_the_suite_that_is_too_short_is_told():
    (found,) = cases_of(modulus_bits=[50, 45, 45, 50])
    assert found.reason.startswith(
        "the program does not fit its modulus chain, which has 2 levels: it needs a depth of 7"
    )


def test_a_plaintext_modulus_is_had_by_its_size_or_its_value():
    by_size, by_value, none, no_slots = (
        cases_of(**LEARNING, schemes=["bfv"], plain_modulus=item)[0]
        for item in ({"bits": 24}, {"value": 65537}, {"bits": 10}, {"value": 97})
    )
    assert by_size.case.parameters.plain_modulus == primes.batching_modulus(24, 4096)
    assert by_value.case.parameters.plain_modulus == 65537
    assert none.reason.startswith("no batching prime of 10 bits at N = 4096")
    assert none.case.parameters.plain_modulus is None
    assert "t = 97 gives no slots" in no_slots.reason


def test_a_batch_whose_inputs_tell_the_server_different_things_is_refused():
    found = cases_of(**LEARNING, schemes=["ckks"], inputs_per_pass=[1, 2])
    assert found[0].reason is None
    assert "the inputs of a pass give the server different public data in stage train" in found[1].reason


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"scale_bits": 61}, "less than or equal to 60"),
        ({"inputs_per_pass": [0]}, "greater than or equal to 1"),
        ({"inputs_per_pass": [2, 2]}, "2 is listed twice"),
        ({"modulus_bits": []}, "at least 1 item"),
        ({"plain_modulus": {"bits": 20}}, "plain_modulus is for bfv and bgv, and this is ckks"),
        ({"plain_modulus": {}}, "either bits or value"),
        (
            LEARNING | {"schemes": ["bfv"], "scale_bits": 30},
            "scale_bits is for ckks, and this is bfv",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_written_is_told(changes, told):
    with pytest.raises(ValidationError, match=told):
        cases_of(**changes)
