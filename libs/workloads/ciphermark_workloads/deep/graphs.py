"""Traced graphs of the eight programs that CraterLake (ISCA 2022) reports, at its parameters: no library runs them.

Moduli have the sizes of levels, of which a machine of 28-bit words makes residues: ``ceil(Σ bits / 28)``. They are no
primes. Weights are placeholders, since a program names constants by digest. Structure that the paper does not state is
taken from the reconstruction in ``docs/explanation/deep-graphs.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from math import ceil, log2

from ciphermark_circuits import bootstrapping, helr, recurrent
from ciphermark_circuits.helr import Batch, Layout
from ciphermark_circuits.recurrent import Weights
from ciphermark_contract.interfaces import Evaluator, Handle, Vector, lowered
from ciphermark_contract.operations import Shape, where
from ciphermark_contract.program import Program
from ciphermark_contract.tracing import Circuit, trace
from ciphermark_core.model import Bootstrapping, BootstrappingParameters, Parameters, ParameterSpec
from ciphermark_workloads.deep import published_networks as networks

WORD_BITS = 28
_RING, _SMALL_RING, _LOLA_RING = 1 << 16, 1 << 15, 1 << 14
_LAYERS = 3  # layers of the Fourier transform in a stage
_FIRST = 56
_BOOTSTRAPPING = 35  # residues
# N and L by security level in bits. With 128 bits bootstraps are twice as often.
SETTINGS: Mapping[int, tuple[int, int]] = {80: (_RING, 57), 128: (_RING, 51), 200: (2 * _RING, 57)}
_TO_COEFFICIENTS = (28, 56, 56, 56, 56)  # bottom up; 9 residues
_EVALUATION = (56,) * (bootstrapping.EVALUATION_DEPTH + 5)  # EvalMod and CoeffsToSlots: 26 residues
_RATE = 1 / 256  # of logistic regression: 1 by the rows of a batch
# Whether a machine hoists rotations or fuses sums is its own choice: a graph has single operations.
_ABLE = where(
    lambda row: (
        not row.has_several_results
        and (row.is_managed or row.is_maintenance or row.keys().bootstrapping is not None)
    )
)


@dataclass(frozen=True, slots=True)
class Graph:
    """A program, and the digests of its constants that are one number in every slot, which no machine loads."""

    program: Program
    numbers: frozenset[str]

    @property
    def parameters(self) -> Parameters:
        """The parameters of the program."""
        return self.program.parameters


def residues(parameters: Parameters, level: int) -> int:
    """L, the residues of a ciphertext at a level."""
    return ceil(sum(map(log2, parameters.moduli[: level + 1])) / WORD_BITS)


def expanded(graph: Graph) -> Graph:
    """The graph with packed bootstrapping written out: see :func:`ciphermark_circuits.bootstrapping.expanded`."""
    if graph.program.keys.bootstrapping is None:
        return graph
    body = _body(graph.parameters)
    return Graph(bootstrapping.expanded(graph.program, body.program), graph.numbers | body.numbers)


def packed_bootstrap() -> Graph:
    """Bootstrapping of all 32,768 slots: from L = 57 to 22, with the modulus raised already."""
    return _body(_bootstrapped(35))


def one_bootstrap(security: int = 80) -> Graph:
    """A packed bootstrap as a single node."""
    of = _bootstrapped(35, security)
    return _graph(of, lambda evaluator, inputs: [evaluator.apply("bootstrap", inputs[0])], 1, 0)


def unpacked_bootstrap() -> Graph:
    """Bootstrapping of one element at N = 32768, from L = 23."""
    of = _parameters(_SMALL_RING, (54, *[53] * 11), 53)
    return _graph(of, lambda evaluator, inputs: [bootstrapping.bootstrapped_alone(evaluator, inputs[0])], 1)


def logistic_regression(iterations: int = 32, security: int = 80) -> Graph:
    """HELR: 256 features, batches of 256 rows in two ciphertexts, a bootstrap after each iteration but the last."""
    of, batches = _bootstrapped(40, security), 2
    layout = Layout(of.slots, 256)

    def circuit(evaluator: Evaluator, inputs: Sequence[Handle]) -> list[Handle]:
        state = helr.first(evaluator, Batch(inputs[:batches], _RATE, layout), _refreshed(of) - 1)
        for number in range(2, iterations + 1):
            batch = Batch(inputs[batches * (number - 1) : batches * number], _RATE, layout)
            state = evaluator.apply("bootstrap", lowered(evaluator, state, 0))
            state = helr.iteration(evaluator, batch, state, helr.momentum(number))
        return [state]

    return _graph(of, circuit, batches * iterations, _refreshed(of))


def recurrent_network(steps: int = 200, security: int = 80) -> Graph:
    """LSTM: 128 values, 200 words, a bootstrap after every fourth step but the last; with 128 bits every second."""
    of, steps_of_bootstrap = _bootstrapped(35, security), 2 if security == 128 else 4
    placeholders = networks.Placeholders()
    weights = Weights(128, [placeholders() for _ in range(2)], [placeholders() for _ in range(2)])

    def circuit(evaluator: Evaluator, inputs: Sequence[Handle]) -> list[Handle]:
        state = None
        for number, x in enumerate(inputs):
            if state is not None and number % steps_of_bootstrap == 0:
                state = evaluator.apply("bootstrap", lowered(evaluator, state, 0))
            state = recurrent.step(evaluator, x, state, number, weights)
        assert state is not None
        return [state]

    return _graph(of, circuit, steps, _refreshed(of))


def residual_network(security: int = 80) -> Graph:
    """ResNet-20 on one image of 3 × 32 × 32: three bootstraps in each of 19 activations."""
    of = _bootstrapped(40, security)
    return _graph(of, networks.residual_network, 1, _refreshed(of))


def lola_mnist() -> Graph:
    """LoLa on one image of MNIST with plain weights: L = 4, N = 16384."""
    of = _parameters(_LOLA_RING, (22, *[15] * 6), 15)
    return _graph(of, partial(networks.lola_mnist, weights=networks.Placeholders()), networks.LOLA_INPUTS)


def lola_mnist_encrypted() -> Graph:
    """LoLa on one image of MNIST with encrypted weights: L = 6, N = 16384."""
    of = _parameters(_LOLA_RING, (30, *[23] * 6), 23)
    count = networks.LOLA_INPUTS + networks.LOLA_WEIGHTS

    def circuit(evaluator: Evaluator, inputs: Sequence[Handle]) -> list[Handle]:
        own = iter(inputs[networks.LOLA_INPUTS :])
        return networks.lola_mnist(evaluator, inputs[: networks.LOLA_INPUTS], lambda: next(own))

    return _graph(of, circuit, count)


def lola_cifar() -> Graph:
    """LoLa on one image of CIFAR-10 with plain weights: L = 8, N = 16384."""
    of = _parameters(_LOLA_RING, (32, *[32] * 6), 32)
    return _graph(of, networks.lola_cifar, networks.CIFAR_INPUTS)


GRAPHS: Mapping[str, Callable[[], Graph]] = {
    "packed-bootstrap": packed_bootstrap,
    "unpacked-bootstrap": unpacked_bootstrap,
    "helr": logistic_regression,
    "lstm": recurrent_network,
    "resnet-20": residual_network,
    "lola-mnist": lola_mnist,
    "lola-mnist-encrypted": lola_mnist_encrypted,
    "lola-cifar": lola_cifar,
}
"""The graphs by the name of their program, bootstraps as single nodes: see :func:`expanded`."""
DEEP: Mapping[str, Callable[..., Graph]] = {
    "packed-bootstrap": one_bootstrap,
    "helr": logistic_regression,
    "lstm": recurrent_network,
    "resnet-20": residual_network,
}
"""Programs that bootstrap, at a ``security`` of :data:`SETTINGS`."""


@cache
def _body(of: Parameters) -> Graph:
    stages = bootstrapping.transforms(of.slots, _LAYERS)
    return _graph(of, lambda evaluator, inputs: [bootstrapping.bootstrapped(evaluator, inputs[0], stages)], 1)


def _graph(of: Parameters, circuit: Circuit, inputs: int, level: int | None = None) -> Graph:
    """The graph of a circuit on ciphertexts of a level, by default the top."""
    top = len(of.moduli) - 1
    traced = trace(circuit, of, [Shape(top if level is None else level, of.scale)] * inputs, _ABLE)
    numbers = (digest for digest, vector in traced.constants.items() if _is_number(vector))
    return Graph(traced.program, frozenset(numbers))


def _is_number(vector: Vector) -> bool:
    """Placeholders have one value, and are no numbers."""
    return len(vector) > 1 and bool((vector == vector[0]).all())


def _bootstrapped(scale_bits: int, security: int = 80) -> Parameters:
    """N and L of a security level. Bootstrapping takes 35 residues; below are levels of ``scale_bits``, and the first
    prime.
    """
    ring, length = SETTINGS[security]
    used = (length - _BOOTSTRAPPING) * WORD_BITS - _FIRST
    sizes = (_FIRST, *[scale_bits] * (used // scale_bits), *_TO_COEFFICIENTS, *_EVALUATION)
    stages = len(_TO_COEFFICIENTS)
    depth = len(_EVALUATION) + stages
    return _parameters(
        ring, sizes, scale_bits, Bootstrapping(BootstrappingParameters((stages, stages)), depth, 0.0)
    )


def _parameters(
    ring: int, sizes: Sequence[int], scale_bits: int, how: Bootstrapping | None = None
) -> Parameters:
    asked = how.parameters if how else None
    spec = ParameterSpec("ckks", ring, tuple(sizes), scale_bits=scale_bits, security=0, bootstrapping=asked)
    moduli = tuple((1 << size) - 1 for size in sizes)
    return Parameters(spec, ring, moduli, (), ring // 2, scale=2.0**scale_bits, bootstrapping=how)


def _refreshed(of: Parameters) -> int:
    return len(of.moduli) - 1 - of.require_bootstrapping().depth
