"""The page of operations, made of the table and of what adapters declare; and what each is, for those who may not know
the table.

``python -m ciphermark_adapters.operations_page`` writes :data:`PAGE`, :data:`SUMMARIES` and :data:`ADDITIONS`; a test
holds all equal.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from ciphermark_adapters import registry
from ciphermark_contract.declaration import Declaration
from ciphermark_contract.operations import OPERATIONS, Operation

_REPOSITORY = Path(__file__).parents[3]
PAGE = _REPOSITORY / "docs/operations.md"
ADDITIONS = _REPOSITORY / "libs/present/ciphermark_present/additions.csv"
SUMMARIES = _REPOSITORY / "libs/present/ciphermark_present/operations.csv"
_HEAD = """# Operations

Made of the operation table (`libs/contract/ciphermark_contract/operations`) and the adapters' declarations by
`python -m ciphermark_adapters.operations_page`: do not edit. A suite writes an operation with arguments as
`rotate: [1, 64, -3]`, a case as `rotate(64)`.
"""


def page(declarations: Sequence[Declaration]) -> str:
    """The whole page, in Markdown."""
    variants = [declared for declared in declarations if not declared.is_reference]
    sections = [_section(row, variants) for row in OPERATIONS.values()]
    return "\n".join([_HEAD, *_table(variants), "", *sections])


def summaries() -> str:
    """Name and meaning of each operation, as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [("operation", "summary"), *((row.name, row.summary) for row in OPERATIONS.values())]
    )
    return text.getvalue()


def additions(declarations: Sequence[Declaration]) -> str:
    """The decryption noise (IND-CPA-D) that each library adds, by the metric that pays for it, as CSV."""
    text = io.StringIO()
    rows = {(item.library, metric, what) for item in declarations for metric, what in item.adds.items()}
    csv.writer(text, lineterminator="\n").writerows([("library", "metric", "text"), *sorted(rows)])
    return text.getvalue()


def _table(variants: Sequence[Declaration]) -> Iterator[str]:
    yield f"| operation | {' | '.join(declared.variant for declared in variants)} |"
    yield f"|---|{'---|' * len(variants)}"
    for row in OPERATIONS.values():
        cells = [_schemes(row, declared) for declared in variants]
        yield f"| [`{row.name}`](#{row.name}) | {' | '.join(cells)} |"


def _schemes(row: Operation, declared: Declaration) -> str:
    able = [scheme for scheme, names in declared.operations.items() if row.name in names]
    return ", ".join(able) + (" (composite)" if able and row.name in declared.composite else "") or "–"


def _section(row: Operation, variants: Sequence[Declaration]) -> str:
    facts = [f"- operands: {', '.join(kind.value for kind in row.operands)}; result: {row.result.value}"]
    if row.argument is not None:
        facts.append(f"- argument: {row.argument.sentence}")
    if row.is_sequence:
        facts.append("- consists of several primitives in every library, so all libraries rank together")
    if row.not_in:
        facts.append(f"- schemes: {', '.join(row.schemes)}; {row.not_in}")
    facts += [f"- {text}" for text in dict.fromkeys(_remarks(row, variants))]
    return f"## {row.name}\n\n{row.summary}\n\n" + "\n".join(facts) + "\n"


def _remarks(row: Operation, variants: Sequence[Declaration]) -> Iterator[str]:
    for declared in variants:
        able = [scheme for scheme in row.schemes if row.name in declared.operations.get(scheme, ())]
        lacking = [scheme for scheme in row.schemes if scheme in declared.operations and scheme not in able]
        note = declared.note_on(row.name)
        if able and note:
            yield f"{declared.library}: {note}"
        if lacking:
            yield f"not {declared.library} ({', '.join(lacking)}): {declared.reason_against(row.name, lacking[0])}"


if __name__ == "__main__":
    PAGE.write_text(page(list(registry.shipped().values())))
    SUMMARIES.write_text(summaries())
    ADDITIONS.write_text(additions(list(registry.shipped().values())))
