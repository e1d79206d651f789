"""Programs on every library: random graphs give what ``cleartext`` gives, whatever the number of threads."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from multiprocessing import get_context

import pytest

from ciphermark_contract import interfaces
from ciphermark_contract.interfaces import Bound, Evaluator, Exhausted, Handle, Unsupported, Vector
from ciphermark_contract.operands import transformed
from ciphermark_contract.operations import OPERATIONS, Call, Kind
from ciphermark_contract.tracing import Circuit, Traced, fresh_inputs, trace

from . import cells, harness
from .cells import Cell
from .checks.values import compare
from .harness import Subject

NODES = 24
SEEDS = (0, 1, 2)
THREADS = (1, 2, 3)
DEADLINE_S = 300.0
CIPHERTEXTS = {Kind.CIPHERTEXT, Kind.TRANSFORMED, Kind.WORDS}
# What is not driven by levels executes the managed form of a circuit: see test_tracing.
BY_LEVELS = cells.where(cells.is_driven_by_levels)


def _is_seal(cell: Cell) -> bool:
    """Refusing transparent results is SEAL's way."""
    return cell.declared.library == "SEAL"


def _can_be_forked(cell: Cell) -> bool:
    """Go's runtime has threads at all times: workers with it are never forked (``confinement.can_fork``)."""
    return cell.declared.library != "Lattigo"


def _random_circuit(subject: Subject, seed: int) -> Circuit:
    """Sums, negations, rotations and plaintext operands of two products, and of what comes of them.

    None of these seeds adds a value to its negation, which SEAL refuses.
    """

    def circuit(evaluator: Evaluator, inputs: Sequence[Handle]) -> list[Handle]:
        drawn = random.Random(seed)
        do = evaluator.managed().apply
        x, y = inputs
        values = [do("mul", x, y), do("mul", y, y)]
        for number in range(NODES):
            a, b = drawn.choice(values), drawn.choice(values)
            kind = drawn.choice(["add", "add", "rotate", "add_plain", "negate"])
            if kind == "rotate" and "rotate" in evaluator.operations:
                values.append(do("rotate", a, drawn.choice([1, 4])))
            elif kind == "negate" and "negate" in evaluator.operations:
                values.append(do("negate", a))
            elif kind == "add_plain":
                values.append(do("add_plain", a, subject.vector(100 + number % 3)))
            else:
                values.append(do("add", a, b))
        return [values[-1], values[-2], do("add", values[-3], values[2])]

    return circuit


def _traced(subject: Subject, circuit: Circuit) -> Traced:
    operations = subject.declared.operations[subject.scheme]
    return trace(circuit, subject.parameters, fresh_inputs(subject.parameters, 2), operations)


def _bound(subject: Subject, traced: Traced, inputs: Sequence[Handle], threads: int) -> Bound:
    prepared = subject.evaluator.prepare_constants(traced.program, traced.constants, threads)
    return subject.evaluator.bind_program(traced.program, inputs, prepared, threads)


def _in_the_clear(subject: Subject, traced: Traced, vectors: Sequence[Vector]) -> list[Vector]:
    """The program on ``cleartext``, which is given the library's own primes."""
    owner, evaluator = _cleartext(subject)
    inputs = [evaluator.load(owner.dump(owner.encrypt(values), "none")) for values in vectors]
    bound = evaluator.bind_program(
        traced.program, inputs, evaluator.prepare_constants(traced.program, traced.constants)
    )
    bound.run(1)
    return [owner.decrypt(result) for result in bound.results()]


def _cleartext(subject: Subject):  # type: ignore[no-untyped-def]
    adapter = harness.adapter("cleartext")
    owner = adapter.key_owner(subject.parameters, harness.all_keys(subject.declared, subject.parameters))
    return owner, adapter.evaluator(owner.public_material())


@BY_LEVELS
@pytest.mark.parametrize("seed", SEEDS)
def test_random_programs_compute_what_cleartext_computes(deep: Subject, seed: int) -> None:
    vectors = [deep.vector(number) for number in range(2)]
    traced = _traced(deep, _random_circuit(deep, seed))
    expected = _in_the_clear(deep, traced, vectors)
    inputs = [deep.encrypted(values) for values in vectors]
    dumps = []
    for threads in THREADS if deep.declared.programs_have_threads else THREADS[:2]:
        bound = _bound(deep, traced, inputs, threads)
        assert bound.run(3) > 0
        results = bound.results()
        dumps.append([deep.evaluator.dump(result, deep.compression) for result in results])
        for result, values in zip(results, expected, strict=True):
            # Each node adds at most the error of one operation on the largest values.
            compare(deep, deep.decrypted(result), values, operations=4 * NODES)
    if deep.declared.programs_have_threads:
        assert dumps[0] == dumps[1] == dumps[2]


@BY_LEVELS
def test_a_repeated_program_gives_the_bytes_of_single_executions(deep: Subject) -> None:
    """A batch side by side on threads, with one set of constants."""
    traced = _traced(deep, _random_circuit(deep, 0))
    pairs = [[deep.encrypted(deep.vector(2 * i + j)) for j in range(2)] for i in range(3)]
    single = [_dumped(deep, _bound(deep, traced, pair, 1)) for pair in pairs]
    several = Traced(traced.program.repeated(3), traced.constants)
    together = _dumped(deep, _bound(deep, several, [item for pair in pairs for item in pair], 2))
    assert together == [data for item in single for data in item]


def _dumped(subject: Subject, bound: Bound) -> list[bytes]:
    bound.run(1)
    return [subject.evaluator.dump(result, subject.compression) for result in bound.results()]


def _calls(subject: Subject, circuit: Circuit, count: int) -> tuple[Bound, Bound]:
    """The program as the evaluator binds it, and as the plain loop over its nodes does."""
    traced = _traced(subject, circuit)
    inputs = [subject.encrypted(subject.vector(number)) for number in range(count)]
    return _bound(subject, traced, inputs, 2), _loop(subject, traced, inputs)


def _loop(subject: Subject, traced: Traced, inputs: Sequence[Handle]) -> Bound:
    constants = interfaces.encoded_constants(subject.evaluator, traced.program, traced.constants)
    return interfaces.ProgramBound(subject.evaluator, traced.program, inputs, constants)


@cells.where(cells.has_threads)
@BY_LEVELS
def test_the_interpreter_gives_the_bytes_of_single_calls(deep: Subject) -> None:
    """Operands overwritten in place, swapped or recycled change no bit."""
    bounds = _calls(deep, _random_circuit(deep, SEEDS[0]), 2)
    dumps = []
    for bound in bounds:
        bound.run(2)
        dumps.append([deep.evaluator.dump(result, deep.compression) for result in bound.results()])
    assert dumps[0] == dumps[1]


@cells.where(cells.has_threads)
@BY_LEVELS
@pytest.mark.schemes("bfv", "bgv")
@pytest.mark.parametrize("wrong", [-1, "t"])
def test_constants_that_are_no_slots_are_refused(deep: Subject, wrong: int | str) -> None:
    """In the last of several vectors, on two threads: what is below 0, and t; t - 1 is taken."""
    modulus = deep.parameters.plain_modulus or 0
    vectors = [deep.vector(number) for number in range(4)]
    vectors[-1] = vectors[-1].copy()
    vectors[-1][-1] = modulus - 1

    def circuit(evaluator: Evaluator, inputs: Sequence[Handle]) -> list[Handle]:
        return [evaluator.managed().apply("add_plain", inputs[0], vector) for vector in vectors]

    inputs = [deep.encrypted(deep.vector(0)) for _ in range(2)]
    assert _bound(deep, _traced(deep, circuit), inputs, 2).run(1) > 0
    vectors[-1] = vectors[-1].copy()
    vectors[-1][-1] = modulus if wrong == "t" else wrong
    with pytest.raises(ValueError, match="must lie in"):
        _bound(deep, _traced(deep, circuit), inputs, 2)


def _call_circuit(subject: Subject, call: Call) -> Circuit:
    """One operation on inputs, products of them where it takes such, and plaintexts."""
    row = call.operation

    def prepared(evaluator: Evaluator, handle: Handle) -> Handle:
        if row.transformed_by is None:
            return handle
        plain = [evaluator.encode(subject.vector(50), like=handle)]
        others = [handle, *plain][: len(OPERATIONS[row.transformed_by].operands) - 1]
        if Kind.PLAINTEXT in OPERATIONS[row.transformed_by].operands:
            others = plain
        return evaluator.apply(row.transformed_by, handle, *others)

    def circuit(evaluator: Evaluator, inputs: Sequence[Handle]) -> list[Handle]:
        operands: list[Handle] = []
        for kind in row.operands:
            for number in range(call.count):
                handle = prepared(evaluator, inputs[(len(operands) + number) % 2])
                if kind in CIPHERTEXTS:
                    operands.append(transformed(evaluator, handle) if kind is Kind.TRANSFORMED else handle)
                    continue
                if kind is Kind.NUMBER:
                    operands.append(subject.vector(51 + number)[0].item())
                    continue
                scale = evaluator.scale(handle) if row.is_at_scale else None
                plain = evaluator.encode(subject.vector(51 + number), like=handle, scale=scale)
                if kind is Kind.NTT_PLAINTEXT and "transform_plain" in evaluator.operations:
                    plain = evaluator.apply("transform_plain", plain, handle)
                operands.append(plain)
        result = evaluator.apply(row.name, *operands, *call.operands)
        if row.result is Kind.TRANSFORMED and "transform_back" in evaluator.operations:
            result = evaluator.apply("transform_back", result)
        return list(result) if row.has_several_results else [result]

    return circuit


@BY_LEVELS
def test_every_operation_of_a_library_is_one_of_its_programs(deep: Subject) -> None:
    """A node gives what the call gives, for each operation on ciphertexts that a key was made for: as the library
    executes it, and in the plain loop, which every library has."""
    inputs = [deep.encrypted(deep.vector(number)) for number in range(2)]
    names = [name for name in deep.declared.operations[deep.scheme] if name in deep.evaluator.operations]
    for call in [call for name in names for call in OPERATIONS[name].calls()]:
        takes_any = not CIPHERTEXTS.isdisjoint(call.operation.operands)
        if not takes_any or not call.operation.yields_ciphertexts:
            continue
        circuit = _call_circuit(deep, call)
        try:
            expected = circuit(deep.evaluator, inputs)
        except Unsupported:  # a key that was not made
            continue
        traced = _traced(deep, circuit)
        for bound in (_bound(deep, traced, inputs, 1), _loop(deep, traced, inputs)):
            bound.run(1)
            for result, value in zip(bound.results(), expected, strict=True):
                compare(deep, deep.decrypted(result), deep.decrypted(value), operations=NODES)


@BY_LEVELS
def test_outputs_may_be_inputs_and_come_twice(deep: Subject) -> None:

    def circuit(evaluator: Evaluator, inputs: Sequence[Handle]) -> list[Handle]:
        x, y = inputs
        total = evaluator.apply("add", x, y)
        return [x, total, total, evaluator.apply("add", total, x)]

    bound, _ = _calls(deep, circuit, 2)
    x, y = (deep.vector(number) for number in range(2))
    modulus = deep.parameters.plain_modulus
    expected = [x, x + y, x + y, x + y + x]
    for _ in range(2):
        bound.run(1)
        for result, values in zip(bound.results(), expected, strict=True):
            compare(
                deep, deep.decrypted(result), values if modulus is None else values % modulus, operations=4
            )


@cells.where(_is_seal)
@BY_LEVELS
def test_a_program_that_fails_says_so_and_can_be_asked_again(deep: Subject) -> None:
    """SEAL refuses x - x, whichever thread comes upon it."""

    def circuit(evaluator: Evaluator, inputs: Sequence[Handle]) -> list[Handle]:
        x, y = inputs
        rotated = [evaluator.apply("rotate", x, step) for step in (1, 4, -1)]
        return [*rotated, evaluator.apply("sub", y, y)]

    bound, _ = _calls(deep, circuit, 2)
    for _ in range(3):
        with pytest.raises(Unsupported, match="transparent"):
            bound.run(5)
        assert bound.results() == []


@cells.where(_can_be_forked)
@cells.where(cells.has_threads)
@BY_LEVELS
def test_a_forked_process_executes_and_ends_as_its_parent_does(deep: Subject) -> None:
    """It has none of its parent's threads: whoever waited for them would wait for ever."""
    bounds = [*_calls(deep, _random_circuit(deep, SEEDS[0]), 2)][:1]

    def executed() -> list[bytes]:
        bounds[0].run(2)
        return [deep.evaluator.dump(result, deep.compression) for result in bounds[0].results()]

    before = executed()

    def execute_again() -> None:
        assert executed() == before
        bounds.clear()  # what is left of the program in the parent's memory ends, too

    child = get_context("fork").Process(target=execute_again)
    child.start()
    child.join(DEADLINE_S)
    child.kill()
    child.join()
    assert child.exitcode == 0
    assert executed() == before


@BY_LEVELS
def test_inputs_of_another_shape_are_refused(deep: Subject) -> None:
    traced = _traced(deep, lambda evaluator, inputs: [evaluator.apply("add", *inputs)])
    x = deep.encrypted(deep.vector(0))
    prepared = deep.evaluator.prepare_constants(traced.program, traced.constants)
    with pytest.raises(ValueError, match="takes 2 inputs, not 1"):
        deep.evaluator.bind_program(traced.program, [x], prepared)
    product = deep.evaluator.apply("mul", x, x)
    with pytest.raises(ValueError, match="input 1 has level and polynomials"):
        deep.evaluator.bind_program(traced.program, [x, product], prepared)


@cells.where(cells.has("rotate"))
@cells.where(cells.has_threads)
@BY_LEVELS
def test_a_rotation_without_its_key_is_refused_before_it_runs(deep: Subject) -> None:
    turned: Callable[[Evaluator, Sequence[Handle]], list[Handle]] = lambda evaluator, inputs: [  # noqa: E731
        evaluator.apply("rotate", inputs[0], 3),
        inputs[1],
    ]
    with pytest.raises(Unsupported, match="no rotation key was generated for 3 steps"):
        _calls(deep, turned, 2)


@pytest.mark.schemes("ckks")
def test_ckks_products_beyond_the_modulus_are_exhausted_when_traced(deep: Subject) -> None:
    with pytest.raises((Unsupported, Exhausted), match="does not fit"):
        trace(
            lambda evaluator, inputs: [
                evaluator.apply(
                    "mul", evaluator.apply("mul", inputs[0], inputs[0]), evaluator.apply("mul", *inputs)
                )
            ],
            deep.parameters,
            fresh_inputs(deep.parameters, 2),
        )
