"""What retrieval over FastPIR's columns has in common: parameters and keys follow from the layout."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence

from ciphermark_circuits import selection
from ciphermark_contract.interfaces import Evaluator, Handle, KeyRequest
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_workloads.retrieval.columns import RowsOf, answered
from ciphermark_workloads.retrieval.layout import Layout
from ciphermark_workloads.retrieval.parameters import layout_for, recommended, roomy, seeded
from ciphermark_workloads.retrieval.queries import Queried
from ciphermark_workloads.retrieval.symbols import Integers
from ciphermark_workloads.workload import Arrays, Input, Stage


class ColumnRetrieval(Queried[Input, Integers]):
    """Whatever is asked for, the server's answers are inner products with columns, and rotations of them."""

    schemes: tuple[Scheme, ...] = ("bfv", "bgv")
    stages = (Stage("answer"),)
    is_literal = True  # else equal plaintexts would be multiplied once, and the work depend on the database

    @abstractmethod
    def layout_at(self, row: int, bits: int) -> Layout:
        """Of one answer, in rows of R slots with w bits each; raises ``Unsupported`` for elements that are too long."""

    @abstractmethod
    def tables(self, layout: Layout) -> Iterable[RowsOf]:
        """What each answer is over: the elements of each of its blocks. The database is made here."""

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "mul_plain", "rotate")

    def parameters(self, scheme: Scheme) -> ParameterSpec:
        """N = 4096, one prime of 50 bits for data and one of 56 to switch keys, while noise and elements fit."""
        self.require_scheme(scheme)
        return recommended(scheme, self.layout_at)

    def seeded_parameters(self, scheme: Scheme) -> ParameterSpec:
        self.require_scheme(scheme)
        return seeded(scheme, self.layout_at)

    def roomy_parameters(self, scheme: Scheme) -> ParameterSpec:
        self.require_scheme(scheme)
        return roomy(scheme, self.layout_at)

    def keys(self, parameters: Parameters) -> KeyRequest:
        """Those of the answer's rotations, said here so that a client need not make the database to know them."""
        layout = self.layout(parameters)
        return KeyRequest.of(rotations=selection.steps(layout.columns, layout.stride))

    def circuit(
        self,
        stage: str,
        evaluator: Evaluator,
        inputs: Sequence[Handle],
        state: Sequence[Handle],
        public: Arrays,
    ) -> list[Handle]:
        """A ciphertext for each answer. The plaintexts of the database are the constants of the program."""
        return [*self.layers(stage, evaluator, inputs, state, public).values()][-1]

    def layers(
        self,
        stage: str,
        evaluator: Evaluator,
        inputs: Sequence[Handle],
        state: Sequence[Handle],
        public: Arrays,
    ) -> Mapping[str, list[Handle]]:
        """The sum of each column's products, and the answers, which are sums of these, turned."""
        layout, products, answers = self.layout(evaluator.parameters), list[Handle](), list[Handle]()
        for number, rows_of in enumerate(self.tables(layout)):
            query = inputs[number * layout.blocks : (number + 1) * layout.blocks]
            sums, answer = answered(evaluator, query, layout, rows_of)
            products, answers = [*products, *sums], [*answers, answer]
        return {"products": products, "rotations": answers}

    def groups(self, layout: Layout) -> int:
        """How many answers there are to a query."""
        return 1

    def input_ciphertexts(self, stage: str, parameters: Parameters) -> int:
        layout = self.layout(parameters)
        return self.groups(layout) * layout.blocks

    def layout(self, parameters: Parameters) -> Layout:
        """Of one answer; raises ``Unsupported`` for elements that are too long."""
        return layout_for(self.layout_at, parameters)
