"""Figures of the programs that a run's workloads executed."""

from __future__ import annotations

from ciphermark_present import formats, subject
from ciphermark_present.catalogue.columns import OPTIONS, SCHEME, SIZE, THREADS, VARIANT, WORKLOAD
from ciphermark_present.figure import Column, Figure
from ciphermark_present.sentences import programs

_NARROWED_BY = ("experiment", "operation", "variant")
_NOTHING = "This run executed no program under these filters: workloads do."


def _digest(value: str) -> str:
    """Enough of a digest to tell programs apart; files have the whole."""
    return value[: programs.SHOWN_DIGITS]


STAGE = Column("stage", "Stage")
PROGRAM = Column("program", "Program", _digest)
PROGRAMS = Figure(
    name="programs",
    title="Programs",
    lead=(
        "What each variant executed in each stage. A program is named by the hash of its operations, chain and "
        "constants: what has one name is the same computation, and times of unequal programs compare those as well. "
        "The command “ciphermark program draw RUN” draws their graphs."
    ),
    view="programs",
    subject=subject.WORKLOAD,
    narrowed_by=_NARROWED_BY,
    order="operation, scheme, options, size, threads, stage, program, variant",
    tell=programs.equal,
    columns=(
        WORKLOAD,
        STAGE,
        SCHEME,
        OPTIONS,
        SIZE,
        THREADS,
        VARIANT,
        PROGRAM,
        Column("is_equal_program", "Same for all", formats.yes),
        Column("nodes", "Nodes", formats.digits, is_number=True),
        Column("program_depth", "Depth", formats.digits, is_number=True),
        Column("constants", "Constants", formats.digits, is_number=True),
        Column("live_ciphertexts", "Live ciphertexts", formats.digits, is_number=True),
    ),
    empty=_NOTHING,
)
COUNTS = Figure(
    name="program-counts",
    title="Operations by level",
    lead=(
        "How often each operation occurs in a program, by the level of its first operand: how many rescalings or "
        "switches of the modulus are left below it. A chart for each program, with the variants that executed it."
    ),
    view="program_counts",
    subject=subject.WORKLOAD,
    narrowed_by=_NARROWED_BY,
    order="operation, scheme, options, size, stage, program, variant, level desc, counted",
    chart="programs.counts",
    columns=(
        WORKLOAD,
        STAGE,
        SCHEME,
        OPTIONS,
        SIZE,
        VARIANT,
        PROGRAM,
        Column("level", "Level", formats.text, is_number=True),
        Column("counted", "Operation"),
        Column("n", "Times", formats.digits, is_number=True),
    ),
    empty=_NOTHING,
)
