"""Any value of the central types, for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from ciphermark_core import model, run
from ciphermark_core.budget import Budget
from ciphermark_core.key_switching import DIVISIONS, KeySwitching

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
numbers = st.floats(allow_nan=False, allow_infinity=False)
sizes = st.integers(0, 2**62)
maybe_texts = st.none() | texts
schemes = st.sampled_from(model.SCHEMES)
chains = st.lists(st.integers(2, 60), min_size=1, max_size=8).map(tuple)
primes = st.lists(st.integers(2, 2**60), min_size=1, max_size=6).map(tuple)

bootstrapping_parameters = st.builds(
    model.BootstrappingParameters,
    level_budget=st.tuples(st.integers(1, 5), st.integers(1, 5)),
    slots=st.none() | sizes,
    iterations=st.integers(1, 2),
    precision_bits=st.none() | st.integers(1, 60),
)
bootstrappings = st.builds(
    model.Bootstrapping,
    parameters=bootstrapping_parameters,
    depth=st.integers(1, 40),
    error=numbers,
    operand_level=st.integers(0, 3),
)
specs = st.builds(
    model.ParameterSpec,
    scheme=schemes,
    ring_dimension=st.integers(1, 17).map(lambda power: 1 << power),
    modulus_bits=st.none() | chains,
    plain_modulus=st.none() | st.integers(2, 2**60),
    scale_bits=st.none() | st.integers(10, 60),
    security=st.sampled_from([0, 128, 192, 256]),
    depth=st.none() | st.integers(1, 100),
    ring_dimension_is_minimum=st.booleans(),
    division=st.sampled_from(DIVISIONS),
    secret_distribution=st.sampled_from(["uniform ternary", "sparse ternary", "sparse-encapsulated"]),
    hamming_weight=st.none() | st.integers(1, 1024),
    bootstrapping=st.none() | bootstrapping_parameters,
)
switchings = st.builds(KeySwitching, method=st.sampled_from(["hybrid", "bv"]), digits=sizes)
parameters = st.builds(
    model.Parameters,
    spec=specs,
    ring_dimension=st.integers(2, 2**17),
    moduli=primes,
    special_moduli=st.just(()) | primes,
    slots=sizes,
    plain_modulus=st.none() | sizes,
    scale=st.none() | numbers,
    key_switching=st.none() | switchings,
    scaling=st.sampled_from(["exact", "fixed", "managed"]),
    secret_distribution=texts,
    encryption=texts,
    hamming_weight=st.none() | st.integers(1, 1024),
    bootstrapping=st.none() | bootstrappings,
)
libraries = st.builds(
    model.LibraryInfo,
    library=texts,
    variant=texts,
    version=texts,
    hexl=st.booleans(),
    build=st.dictionaries(texts, texts, max_size=3),
    is_debug=st.booleans(),
)
budgets = st.builds(
    Budget,
    processes=sizes,
    samples=sizes,
    warmups=sizes,
    min_time_s=numbers,
    timeout_s=numbers,
    memory_mb=sizes,
    precision=st.none() | numbers,
    most_samples=sizes,
    most_time_s=numbers,
)
cases = st.builds(
    model.Case,
    variant=texts,
    experiment=texts,
    operation=texts,
    parameters=specs,
    size=sizes,
    data_pattern=st.sampled_from(["same", "random"]),
    threads=sizes,
    dimensions=st.dictionaries(texts, texts | sizes | st.floats(0.1, 0.9), max_size=3),
)
trials = st.builds(model.Trial, id=texts, run_id=texts, case=cases, process=sizes, seed=sizes, budget=budgets)
samples = st.builds(
    model.Sample,
    metric=texts,
    value=numbers,
    stage=texts,
    party=maybe_texts,
    step=maybe_texts,
    ordinal=sizes,
    loops=sizes,
    is_warmup=st.booleans(),
    repetitions=st.none() | sizes,
    is_disturbed=st.booleans(),
    slow_down=numbers,
)
accuracies = st.builds(
    model.Accuracy,
    max_abs_error=numbers,
    wrong_slots=sizes,
    tolerance=numbers,
    precision_bits=st.none() | numbers,
)
counts = st.builds(model.OperationCount, operation=texts, level=sizes, n=sizes)
layers = st.builds(
    model.LayerFacts,
    name=texts,
    level=sizes,
    end_level=sizes,
    scale_bits=st.none() | numbers,
    operand_bytes=sizes,
    result_bytes=sizes,
    counts=st.lists(counts, max_size=3).map(tuple),
)
uses = st.builds(
    model.ProgramUse,
    stage=texts,
    digest=texts,
    scheme=schemes,
    depth=sizes,
    constants=sizes,
    live_ciphertexts=sizes,
    counts=st.lists(counts, max_size=3).map(tuple),
    content=st.binary(max_size=20),
    layers=st.lists(layers, max_size=2).map(tuple),
)
outcomes = st.builds(
    model.Outcome,
    trial=trials,
    status=st.sampled_from(model.Status.__args__),
    started_at=texts,
    duration_s=numbers,
    samples=st.lists(samples, max_size=4).map(tuple),
    accuracy=st.none() | accuracies,
    parameters=st.none() | parameters,
    library=st.none() | libraries,
    error=maybe_texts,
    facts=st.dictionaries(texts, numbers, max_size=3),
    programs=st.lists(uses, max_size=2).map(tuple),
)
hosts = st.builds(
    run.Host,
    fingerprint=texts,
    hostname=texts,
    cpu_model=texts,
    cpu_flags=st.lists(texts, max_size=4).map(tuple),
    caches=st.dictionaries(texts, sizes, max_size=3),
    cores=sizes,
    memory_bytes=sizes,
    operating_system=texts,
    kernel=texts,
    governor=maybe_texts,
    turbo=st.none() | st.booleans(),
    smt=st.none() | st.booleans(),
    container=maybe_texts,
    clock_source=maybe_texts,
    clock_resolution_ns=sizes,
    clock_noise=numbers,
    load_1min=numbers,
    warnings=st.lists(texts, max_size=3).map(tuple),
)
runs = st.builds(
    run.Run,
    id=texts,
    suite_name=texts,
    suite_text=texts,
    seed=sizes,
    started_at=texts,
    host=hosts,
    software_version=texts,
)
