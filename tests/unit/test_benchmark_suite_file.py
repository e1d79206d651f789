from __future__ import annotations

import re
from pathlib import Path

import golden
import pytest

from ciphermark_benchmark.api import suites as limited
from ciphermark_benchmark.suite import files, shipped
from ciphermark_core.errors import UserError

GOOD = """\
name: mine
seed: 7
budget: {min_samples: 3, min_time_s: 0.1}
experiments:
  - kind: arithmetic
    variants: [seal, seal-hexl]
    schemes: [bfv, ckks]
    ring_dimension: [4096, 8192]
    # a comment
    plain_modulus: {bits: 20}
    vector_length: [full, 100]
    operations: [add, mul]
"""


def complaints(text):
    with pytest.raises(UserError) as caught:
        files.parse(text, "mine.yaml")
    return str(caught.value).splitlines()


def test_a_good_suite_is_read_as_it_stands():
    suite = files.parse(GOOD, "mine.yaml")
    (experiment,) = suite.experiments
    assert (suite.name, suite.seed, suite.budget.min_samples, suite.budget.min_time_s) == ("mine", 7, 3, 0.1)
    assert experiment.variants == ["seal", "seal-hexl"]
    assert experiment.vector_length == ["full", 100]
    assert experiment.plain_modulus.bits == 20


def test_a_bare_name_is_that_of_a_shipped_suite_wherever_one_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert files.load(Path("quick"))[0].name == "quick"
    for other in ("quik", "folder/quick", "./suites/../quick", "quick.yaml"):
        with pytest.raises(UserError, match="cannot read the suite"):
            files.load(Path(other))
    with pytest.raises(UserError, match="did you mean 'quick'"):
        files.load(Path("quik"))
    (tmp_path / "quick").write_text(GOOD.replace("name: mine", "name: nearer"))
    assert files.load(Path("quick"))[0].name == "nearer"


def test_every_shipped_suite_is_called_like_its_file_and_says_what_for():
    known = {
        "cryptoracle",
        "cryptoracle-small",
        "cryptoracle-workloads",
        "inference",
        "inference-large",
        "micro",
        "pir-report",
        "primitives",
        "primitives-large",
        "quick",
        "retrieval",
        "retrieval-large",
        "seal-vs-openfhe",
        "smoke",
        "tenseal-ml",
        "validation",
    }
    assert known <= set(shipped.names())
    for name in shipped.names():
        suite, text = files.load(Path(name))
        assert suite.name == name
        assert shipped.purpose(text).endswith(".")
        assert len(shipped.purpose(text)) < 220  # five lines beside name and time in 80 columns


def test_what_is_left_out_has_the_documented_default():
    text = (
        "name: a\nexperiments:\n- {kind: depth, variants: [seal], schemes: [bfv], ring_dimension: [4096]}\n"
    )
    suite = files.parse(text, "a.yaml")
    (experiment,) = suite.experiments
    assert (suite.seed, suite.budget.processes, suite.budget.min_samples, suite.budget.warmups) == (
        1,
        1,
        10,
        1,
    )
    assert (suite.budget.min_time_s, suite.budget.timeout_s, suite.budget.memory_mb) == (0.3, 300, 8192)
    assert (experiment.modulus_bits, experiment.scale_bits, experiment.vector_length) == (
        "default",
        30,
        ["full"],
    )
    assert (experiment.data, experiment.threads, experiment.security) == (["random"], [1], 128)
    assert (experiment.allow, experiment.max_repetitions, experiment.operations) == ([], 16384, None)
    assert experiment.plain_modulus.bits == 20


def changed(old, new):
    assert GOOD.count(old) == 1
    return GOOD.replace(old, new)


WRONG = {
    # unknown keys, at every level, with the nearest one
    "key of the suite": changed("budget:", "bugdet:"),
    "key of the budget": changed("samples", "sample"),
    "key of an experiment": changed("operations", "operation"),
    "key of other experiments": GOOD.replace("vector_length: [full, 100]", "workloads: [horner]"),
    "scale where no scheme has one": GOOD.replace("[bfv, ckks]", "[bfv]") + "    scale_bits: 40\n",
    "t where no scheme has one": GOOD.replace("[bfv, ckks]", "[ckks]"),
    "table of security": GOOD.replace("vector_length: [full, 100]", "security: {bits: 128, table: 2020}"),
    "key of plain_modulus": changed("{bits: 20}", "{bit: 20}"),
    "a key like none": changed("seed:", "xyzzy:"),
    # unknown words
    "variant": changed("seal-hexl", "seal-hexel"),
    "label with a NUL": changed("[seal,", '["seal@a\\0b",'),
    "label with a newline": changed("[seal,", '["seal@a\\nb",'),
    "label of 200 kB": changed("[seal,", f"[seal@{'a' * 200_000},"),
    "labelled variant": changed("[seal,", "[sael@again,"),
    "scheme": changed("ckks", "ckkss"),
    "kind": changed("arithmetic", "arithmetik"),
    "operation": changed("mul]", "mull]"),
    "operation of another kind": changed("add, mul", "zstd"),
    "data pattern": changed("vector_length: [full, 100]", "data: [rnd]"),
    "vector_length": changed("full", "ful"),
    "security": changed("vector_length: [full, 100]", "security: 100"),
    "allow": changed("vector_length: [full, 100]", "allow: [small-prime]"),
    "repetition": changed("vector_length: [full, 100]", "modulus_bits: defautl"),
    # ring dimensions
    "N of 4000": changed("4096", "4000"),
    "N of 0": changed("4096", "0"),
    "N of 1": changed("4096", "1"),
    "N below 0": changed("8192", "-8192"),
    "N beyond all tables": changed("4096", str(1 << 60)),
    # empty lists
    "no variants": changed("[seal, seal-hexl]", "[]"),
    "no schemes": changed("[bfv, ckks]", "[]"),
    "no ring": changed("[4096, 8192]", "[]"),
    "no operations": changed("[add, mul]", "[]"),
    "no sizes": changed("[full, 100]", "[]"),
    "no primes": changed("vector_length: [full, 100]", "modulus_bits: []"),
    "no experiments": "name: a\nexperiments: []\n",
    # duplicates
    "variant twice": changed("seal-hexl", "seal"),
    "scheme twice": changed("ckks", "bfv"),
    "N twice": changed("8192", "4096"),
    "operation twice": changed("[add, mul]", "[add, mul, add]"),
    "size twice": changed("[full, 100]", "[full, 100, full]"),
    "key twice": GOOD + "name: again\n",
    # wrong types and values
    "word for a number": changed("seed: 7", "seed: seven"),
    "N as text": changed("4096", "'4096'"),
    "N as a fraction": changed("4096", "4096.5"),
    "N as a truth": changed("4096", "true"),
    "time as text": changed("0.1", "'0.1'"),
    "number for a name": changed("mine", "5"),
    "name with a space": changed("mine", "'a b'"),
    "scalar for a list": changed("[seal, seal-hexl]", "seal"),
    "list for a mapping": changed("{min_samples: 3, min_time_s: 0.1}", "[3]"),
    "mapping for a list": "name: a\nexperiments: {kind: depth}\n",
    "number for an experiment": "name: a\nexperiments: [1]\n",
    "negative seed": changed("7", "-7"),
    "no samples": changed("min_samples: 3", "min_samples: 0"),
    "size of 0": changed("100", "0"),
    "prime of 61 bits": changed("vector_length: [full, 100]", "modulus_bits: [60, 61]"),
    "t with bits and value": changed("{bits: 20}", "{bits: 20, value: 65537}"),
    "t with neither": changed("{bits: 20}", "{}"),
    "t beyond 60 bits": changed("bits: 20", f"value: {1 << 80}"),
    "endless timeout": changed("min_samples: 3", "timeout_s: .inf"),
    "no time at all": changed("min_samples: 3", "timeout_s: 0"),
    "time that is no number": changed("0.1", ".nan"),
    "memory beyond all machines": changed("min_samples: 3", f"memory_mb: {10**18}"),
    # budgets that contradict themselves
    "precision of nothing": changed("min_samples: 3", "max_ci_half_width: 0%"),
    "precision of most": changed("min_samples: 3", "max_ci_half_width: 51%"),
    "precision in words": changed("min_samples: 3", "max_ci_half_width: high"),
    "precision as a flag": changed("min_samples: 3", "max_ci_half_width: true"),
    "limits of nothing": changed("min_samples: 3", "max_samples: 30, max_time_s: 3"),
    "less at most than at least": changed(
        "min_samples: 3", "max_ci_half_width: 2%, min_samples: 30, max_samples: 29"
    ),
    "too few for an interval": changed(
        "min_samples: 3", "max_ci_half_width: 2%, min_samples: 3, max_samples: 7"
    ),
    "shorter at most than at least": changed("min_samples: 3", "max_ci_half_width: 2%, max_time_s: 0.05"),
    "a limit after the end": changed(
        "min_samples: 3", "max_ci_half_width: 2%, max_time_s: 30, timeout_s: 20"
    ),
    "an end before the least time": changed("min_samples: 3", "timeout_s: 0.05"),
    "size beyond all disks": changed("100", str(10**30)),
    "endless max_repetitions": changed("vector_length: [full, 100]", f"max_repetitions: {10**30}"),
    # missing keys
    "no name": changed("name: mine\n", ""),
    "no kind": changed("kind: arithmetic\n    ", ""),
    # no YAML, or YAML of another shape
    "open bracket": "name: [\n",
    "tab": "name: a\n\tseed: 1\n",
    "two colons": "name: a\nseed: b: c\n",
    "two documents": GOOD + "---\nname: b\n",
    "control character": "name: a\nseed: \x01\n",
    "list": "- a\n- b\n",
    "scalar": "hello\n",
    "nothing": "",
    "only a comment": "# hello\n",
    "number for a key": GOOD + "1: x\n",
}


# Lists that grow with the tables: the first two words stay.
LISTS = (
    (r"(known variants:|operations:|keys here:)( [\w-]+, [\w-]+), [\w, -]+", r"\1\2, …"),
    (r"(is not one of '\w+', '\w+'), '\w+', .* or '\w+'", r"\1, …"),
)


def test_every_mistake_is_told_with_file_line_and_remedy():
    answers = {name: complaints(text) for name, text in WRONG.items()}
    assert {name: len(lines) for name, lines in answers.items()} == dict.fromkeys(WRONG, 1)
    text = "".join(f"{name}\n    {line}\n" for name, (line,) in answers.items())
    for internal in ("Value error", "pydantic", "Input should", "BudgetText", "ExperimentText", "literal["):
        assert internal not in text
    for words, short in LISTS:
        text = re.sub(words, short, text)
    golden.compare("suite-mistakes.txt", text)


OWN_LINE = "vector_length: [full, 100]"
LEARNING = """\
  - kind: learning
    variants: [seal]
    workloads: [lmc-plain]
    data_sets: [boston]
    batch: [8]
"""


@pytest.mark.parametrize(
    ("text", "line", "complaint"),
    [
        (changed("min_samples: 3", "samples: 3"), 3, "'samples' is now 'min_samples'"),
        (changed("min_samples: 3", "precision: 2%"), 3, "'precision' is now 'max_ci_half_width'"),
        (changed("min_samples: 3", "most_samples: 9"), 3, "'most_samples' is now 'max_samples'"),
        (changed("min_samples: 3", "most_time_s: 9"), 3, "'most_time_s' is now 'max_time_s'"),
        (changed("vector_length", "sizes"), 11, "'sizes' is now 'vector_length'"),
        (changed(OWN_LINE, "division: best"), 11, "'division' is now 'tuning'"),
        (changed(OWN_LINE, "cap: 9"), 11, "'cap' is now 'max_repetitions'"),
        (GOOD + LEARNING, 17, "'batch' is now 'inputs_per_pass'"),
        (changed(OWN_LINE, "tuning: best"), 11, "experiments.0.tuning: 'best' is now 'recommended'"),
        (
            changed(OWN_LINE, "tuning: [recommended, equal]"),
            11,
            "experiments.0.tuning.1: 'equal' is now 'matched'",
        ),
        (changed(OWN_LINE, "data: [same]"), 11, "experiments.0.data.0: 'same' is now 'constant'"),
        (
            changed("[4096, 8192]", "smallest"),
            8,
            "experiments.0.ring_dimension: 'smallest' is now 'smallest-secure'",
        ),
        (changed("arithmetic", "chain"), 5, "experiments.0.kind: 'chain' is now 'repetition'"),
        (
            changed("[add, mul]", "[add, rotate_left]"),
            12,
            "experiments.0.operations: 'rotate_left' is now 'rotate(1)'",
        ),
    ],
)
def test_an_earlier_word_is_answered_with_the_one_that_took_its_place(text, line, complaint):
    (told,) = complaints(text)
    assert told == f"mine.yaml:{line}: {complaint}"


def test_all_mistakes_are_told_at_once_in_the_order_of_lines():
    text = GOOD.replace("samples", "sampels").replace("ckks", "kcks").replace("[add, mul]", "[mull]")
    assert [complaint.split(": ")[0] for complaint in complaints(text)] == [
        "mine.yaml:3",
        "mine.yaml:7",
        "mine.yaml:12",
    ]


def test_the_line_of_a_mistake_in_a_later_experiment():
    again = GOOD[GOOD.index("  - kind") :].replace("ckks", "xkks")
    (complaint,) = complaints(GOOD + again)
    assert complaint.startswith("mine.yaml:15: experiments.1.schemes.1: 'xkks'")


ANCHORED = """\
name: mine
experiments:
  - &first
    kind: depth
    variants: [seal]
    schemes: [bfv]
    ring_dimension: [4096]
  - <<: *first
    schemes: [bgv]
"""


def test_anchors_and_merge_keys_work():
    suite = files.parse(ANCHORED, "mine.yaml")
    assert [item.schemes for item in suite.experiments] == [["bfv"], ["bgv"]]
    assert suite.experiments[1].ring_dimension == [4096]


def test_a_mistake_in_a_merged_mapping_has_a_line():
    found = complaints(ANCHORED.replace("4096", "4095"))
    assert [complaint.split(" must")[0] for complaint in found] == [
        "mine.yaml:7: experiments.0.ring_dimension.0: the ring dimension",
        "mine.yaml:7: experiments.1.ring_dimension.0: the ring dimension",
    ]
    (complaint,) = complaints(ANCHORED.replace("schemes: [bgv]", "schemas: [bgv]"))
    assert complaint.startswith("mine.yaml:9: unknown key 'schemas'; did you mean 'schemes'?")


@pytest.mark.parametrize(
    "use", ["", "kind: *a29", "schemes: [*a29]", "operations: [{rotate: *a29}]", "security: *a29"]
)
def test_aliases_that_multiply_are_refused_in_no_time(use):
    """10^30 values, wherever a key takes them."""
    lines = ["name: a", "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, 30)]
    text = "\n".join([*lines, "experiments:", "  - variants: [seal]", *([f"    {use}"] if use else [])])
    assert complaints(text) == ["mine.yaml: aliases make the suite too large: write fewer of them"]


def test_complaints_and_the_values_in_them_are_bounded():
    """Where a list has 10,000 mistakes, the first ones are told."""
    told = complaints(GOOD.replace("schemes: [bfv, ckks]", f"schemes: [{', '.join(['q'] * 10_000)}]"))
    assert 1 <= len(told) <= 500
    nested = "1"
    for _ in range(5):
        nested = f"[{', '.join([nested] * 6)}]"
    line = max(complaints(GOOD.replace("schemes: [bfv, ckks]", f"schemes: [{nested}]")), key=len)
    assert len(line) < 1000


def test_an_alias_of_itself_is_no_suite():
    assert complaints("name: a\nexperiments: &all\n  - *all\n")


def test_windows_files_are_read():
    text = "\ufeff" + GOOD.replace("\n", "\r\n")
    assert files.parse(text, "mine.yaml") == files.parse(GOOD, "mine.yaml")


def test_the_text_is_returned_as_written(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(GOOD)
    suite, text = files.load(path)
    assert text == GOOD
    assert suite == files.parse(GOOD, "mine.yaml")


def message_for(path):
    with pytest.raises(UserError) as caught:
        files.load(path)
    return str(caught.value)


def test_a_missing_file_is_answered_with_the_nearest_one(tmp_path):
    (tmp_path / "quick.yaml").write_text(GOOD)
    (tmp_path / "something-else.yaml").write_text(GOOD)
    message = message_for(tmp_path / "quikc.yaml")
    assert message.startswith(f"{tmp_path / 'quikc.yaml'}: cannot read the suite: No such file or directory")
    assert f"did you mean '{tmp_path / 'quick.yaml'}'?" in message


def test_a_missing_folder_is_told(tmp_path):
    assert "No such file or directory" in message_for(tmp_path / "nowhere" / "quick.yaml")


def test_a_folder_is_no_suite(tmp_path):
    assert "Is a directory" in message_for(tmp_path)


def test_what_is_not_utf8_is_told(tmp_path):
    path = tmp_path / "latin1.yaml"
    path.write_bytes(GOOD.replace("a comment", "Größe").encode("latin-1"))
    assert message_for(path) == f"{path}: the suite is not UTF-8 text"


def test_a_file_of_more_than_a_mebibyte_is_not_read(tmp_path):
    path = tmp_path / "huge.yaml"
    path.write_text(GOOD + "#" * (1 << 20))
    assert message_for(path) == f"{path}: a suite of more than 1 MiB is not one"
    path.write_text(GOOD + "#" * ((1 << 20) - len(GOOD)))
    assert files.load(path)[0].name == "mine"


@pytest.mark.parametrize(
    "text",
    [
        "name: 2025-99-99\n",
        f"name: x\nseed: {'9' * 5000}\n",
        f"name: x\nseed: 0x{'f' * 5000}\n",
        f"name: x\n? 0x{'f' * 5000}\n: 1\n",
    ],
    ids=["date", "number", "base 16", "key"],
)
def test_a_value_that_cannot_be_read_is_told(text):
    (complaint,) = complaints(text)
    assert complaint.startswith("mine.yaml: a value that cannot be read: ")


def test_a_name_is_no_novel():
    assert complaints(changed("name: mine", f"name: {'x' * 101}")) == [
        "mine.yaml:1: name: String should have at most 100 characters"
    ]


def test_options_count_where_cases_are_limited():
    """150 values, 140 counts of threads: 21,000 cases."""
    values, threads = list(range(1, 151)), list(range(1, 141))
    text = (
        "name: a\nexperiments:\n- {kind: micro, variants: [seal], workloads: [logistic], "
        f"options: {{values: {values}}}, threads: {threads}}}\n"
    )
    with pytest.raises(UserError, match="21000 trials; the maximum is 20000"):
        limited.checked(text, "a.yaml")


@pytest.mark.parametrize(
    ("written", "read"),
    [("recommended", "recommended"), ("[matched, recommended]", ["matched", "recommended"])],
)
def test_a_tuning_or_several(written, read):
    workload = "  - {kind: micro, variants: [seal], workloads: [matrix-product], tuning: %s}\n"
    suite = files.parse(GOOD + f"    tuning: {written}\n" + workload % written, "mine.yaml")
    assert [item.tuning for item in suite.experiments] == [read, read]


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ("worst", "'worst' is not one of"),
        ("[recommended, recommended]", "is listed twice"),
        ("[]", "must not be empty"),
    ],
)
def test_a_tuning_that_there_is_not(written, complaint):
    (line,) = complaints(GOOD + f"    tuning: {written}\n")
    assert line.startswith("mine.yaml:13: experiments.0.tuning: ")
    assert complaint in line


@pytest.mark.parametrize(
    "text",
    [
        "x: &x {<<: *x}",
        "a: !!bool maybe",
        "a: !!int ",
        "a: !!float ''",
        "? [[a], b]\n: 1",
        "!!set a",
        "!!omap a",
    ],
)
def test_what_the_parser_itself_stumbles_over_is_no_yaml(text):
    with pytest.raises(UserError, match=r"some\.yaml.*(not YAML|must be|lacks|unknown|a suite is)"):
        files.parse(text, "some.yaml")


def test_an_anchor_that_is_written_again_is_no_warning(recwarn):
    with pytest.raises(UserError):
        files.parse("a: &x 1\nb: &x 2\nc: *x\n", "some.yaml")
    assert not recwarn.list


def test_a_device_without_end_is_no_suite():
    assert message_for(Path("/dev/zero")) == "/dev/zero: a suite of more than 1 MiB is not one"
