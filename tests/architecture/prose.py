"""Checks the language of documents and of texts that users see.

``python tests/architecture/prose.py [FILE…]`` prints each fault with its place and what to write instead. The exit code
is 1 if there is one. The rules are: no private or archaic words, sentences of at most 30 words that begin with their
subject, headings that name their subject. Fences, inline code and tags are not prose.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from house import REPOSITORY, files, tree

MAX_WORDS = 30
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "docs/")
SOURCES = ("libs/", "services/", "dashboards/")
_MIN_WORDS_OF_A_TEXT = 4  # shorter constants are keys, labels and parts of queries

# Words that must not be written, and what to write instead. A pattern stands for whole words in any case.
WORDS = {
    "tell|tells|telling|told": "report, print, show, state",
    "anew": "again; rebuilt",
    "beside": "next to; in addition to",
    "(?:or|and) the like": "or similar",
    "by (?:itself|themselves)": "alone; automatically",
    "mend|mends|mended|mending": "fix; repair",
    "go on|goes on|gone on|going on": "continue; resume",
    "nobody|whoever|whatever became": "name the subject",
    "spoil|spoils|spoilt|spoiled": "disturb; sources of measurement error",
    "says? (?:so|why)": "is marked; gives the reason",
    "noise floors?": "significance threshold",
    "quiet": "undisturbed; idle; reference-kernel baseline",
    "quiet_share": "undisturbed_share",
    r"anchors?(?!,? (?:and )?aliases)|anchor_s": "reference kernel; reference_kernel_s",
    "slow-downs?|slow_down": "slowdown",
    "waits? for the core": "run-queue delay",
    "divisions?(?! by)": "tuning: matched, recommended",
    "evaluation form": "NTT form",
    "in turns|(?:takes?|taking|took) turns": "interleaved; alternately",
    "bits left": "remaining noise budget; precision",
    "(?:operations|multiplications|additions|products|rotations|repetitions) in a row": "consecutive",
    "20(?:18|24) table|table of 20(?:18|24)": "HE Standard (2018); guidelines (Bossuat et al., 2024)",
    "any[- _]security": "across security levels",
    "(?:most|least)_(?:samples|time_s)": "max_samples, max_time_s; min_samples",
    "timed_out": "timeout",
    "is_composed|composed operations?": "is_composite; composite operation",
    "phase (?:operation|keys)|operation phase": "evaluation time; keygen",
    "published figures?|figures include": "result; value",
    "moved? together": "host-wide shift",
    "guess|guesses|guessed": "estimate",
    "surprises?": "highlights",
    "memory and bytes": "memory and sizes",
    "adds? on purpose|added on purpose": "decryption noise (IND-CPA-D)",
    "set-up": "setup",
    "what hexl brings|brings nothing": "HEXL speedup",
    "screenful": "one screen",
    "for ever|but for|in the mean|at the least": "forever; except; on average; at least",
    "the (?:least|most) (?:bits|digits|levels?|memory|processes|repetitions|samples|sessions|threads|time)": (
        "minimum; maximum"
    ),
    "least (?:median|samples|size|level|error)": "smallest; minimum",
    "(?:comes?|came|decrypts?) (?:out )?(?:right|wrong)": "correct; incorrect",
    "foretells?|foretold": "predict",
    "(?:neighbour|colour|behaviour|favour|licence|catalogue|artefact|centred|grey)s?": "American spelling",
}
_WORDS = {
    re.compile(rf"(?<![\w-])(?:{pattern})(?![\w-])", re.IGNORECASE): advice
    for pattern, advice in WORDS.items()
}
_SCHEME = re.compile(r"(?<![\w./-])(?:bfv|bgv|ckks)(?![\w./-])")
_PERCENT = re.compile(r"\d %")
_WITHOUT_SUBJECT = re.compile(r"(?:What|Who)\b(?!.*\?$)")
_FINITE_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|does|do|did|can|cannot|could|must|should|will|would|may|might|takes|took|costs"
    r"|gains|gives|brings|needs|keeps|reaches|matters|holds|makes|means|goes|comes|stands|lies|decides|overtakes)\b",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
_NO_TEXT = re.compile(r"<!--.*?-->|\{%.*?%\}|\{#.*?#\}|<(script|style)\b.*?</\1>", re.DOTALL)
_INSERTED = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_CODE = re.compile(r"`[^`\n]+`")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_TAG = re.compile(r"<[^>\n]*>")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.|>)\s+")
_CELL = re.compile(r"(?<!\\)\|")
_SENTENCE_END = re.compile(r"(?<=[.!?])[)\"”’*]*\s+(?=[\"“(‘*]*[A-Z0-9])")
_NO_PROSE = re.compile(
    r"\s*(?:(?:select|insert|update|delete|with|create|alter|from|where|join|order by)\b|id: )"  # queries, events
    r"|.*^experiments:$",  # suites
    re.MULTILINE | re.DOTALL,
)


class Text(NamedTuple):
    """A paragraph, an item, a cell or a heading without its code, and the line at which it begins."""

    line: int
    content: str
    is_heading: bool = False
    has_sentences: bool = False


class Fault(NamedTuple):
    """A fault of a file, with its line."""

    file: str
    line: int
    message: str


def document(markdown: str) -> Iterator[Text]:
    """The texts of a page in Markdown."""
    plain = _FENCE.sub(_blank, _NO_TEXT.sub(_blank, markdown))
    first, parts = 0, list[str]()
    for number, line in enumerate([*plain.splitlines(), ""], 1):
        is_row, is_heading = line.lstrip().startswith("|"), line.startswith("#")
        if parts and (not line.strip() or is_row or is_heading or _ITEM.match(line)):
            yield Text(first, prose(" ".join(parts)), has_sentences=True)
            parts = []
        if is_heading:
            yield Text(number, prose(line.lstrip("# ")), is_heading=True)
        elif is_row:
            yield from (Text(number, prose(cell)) for cell in _CELL.split(line.strip().strip("|")))
        elif line.strip():
            first = first if parts else number
            parts.append(_ITEM.sub("", line).strip())


def template(text: str) -> Iterator[Text]:
    """The texts of a template of pages, line by line."""
    plain = _INSERTED.sub("X", _NO_TEXT.sub(_blank, text))
    yield from (Text(number, prose(line)) for number, line in enumerate(plain.splitlines(), 1))


def comments(suite: str) -> Iterator[Text]:
    """The comments of a suite, lines that follow each other as one."""
    first, parts = 0, list[str]()
    for number, line in enumerate([*suite.splitlines(), ""], 1):
        _, is_comment, text = line.partition("# ")
        if parts and not line.lstrip().startswith("# "):
            yield Text(first, prose(" ".join(parts)))
            parts = []
        if is_comment:
            first = first if parts else number
            parts.append(text)


def constants(module: ast.Module) -> Iterator[Text]:
    """The string constants that users may read: all but queries, and docstrings of other functions than commands."""
    left_out = set(_docstrings(module))
    for node, text in _strings(module):
        if (
            id(node) not in left_out
            and len(text.split()) >= _MIN_WORDS_OF_A_TEXT
            and not _NO_PROSE.match(text)
        ):
            yield from (Text(node.lineno, prose(paragraph)) for paragraph in text.split("\n\n"))


def _docstrings(module: ast.Module) -> Iterator[int]:
    for node in ast.walk(module):
        is_owner = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if is_owner and node.body and not _is_command(node):
            first = node.body[0]
            if isinstance(first, ast.Expr):
                yield id(first.value)


def _is_command(node: ast.AST) -> bool:
    """Whether it is a command or a group, whose docstring is its help: decorated by ``app.command`` or the like."""
    decorators = (ast.unparse(item) for item in getattr(node, "decorator_list", ()))
    return any(".command(" in text or ".callback(" in text for text in decorators)


def _strings(node: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """Every string with its node; each value that is inserted counts as a word."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node, node.value
    elif isinstance(node, ast.JoinedStr):
        yield (
            node,
            "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values),
        )
    else:
        for child in ast.iter_child_nodes(node):
            yield from _strings(child)


def _blank(match: re.Match[str]) -> str:
    """As many lines, without text."""
    return "\n" * match.group().count("\n")


def prose(text: str) -> str:
    """The text with a word in place of code, links as their text, and no tags."""
    return " ".join(_TAG.sub(" ", _LINK.sub(r"\1", _CODE.sub("X", text))).replace("**", "").split())


def messages(text: Text, has_schemes: bool = True) -> Iterator[str]:
    """The faults of a text."""
    for pattern, advice in _WORDS.items():
        yield from (f"“{match.group()}”: {advice}" for match in pattern.finditer(text.content))
    if has_schemes and (scheme := _SCHEME.search(text.content)):
        yield f"“{scheme.group()}”: {scheme.group().upper()} in prose, lower case in code"
    if _PERCENT.search(text.content):
        yield "“ %”: 95%, without a space"
    if text.is_heading:
        is_clause = text.content.startswith(("How ", "Why "))
        if text.content.endswith((".", "?", "!", "…")) or (
            _FINITE_VERB.search(text.content) and not is_clause
        ):
            yield f"a heading that is a sentence: “{text.content}”"
        return
    for sentence in _SENTENCE_END.split(text.content):
        beginning = f"“{' '.join(sentence.split()[:6])} …”"
        if (count := sum(1 for word in sentence.split() if re.search(r"\w", word))) > MAX_WORDS:
            yield f"a sentence of {count} words: {beginning}"
        if text.has_sentences and _WITHOUT_SUBJECT.match(sentence):
            yield f"a sentence that begins without its subject: {beginning}"


def faults(name: str) -> Iterator[Fault]:
    """The faults of a file."""
    has_schemes = False
    if name.endswith(".py"):
        texts = constants(tree(name))
    elif name.endswith(".yaml"):
        texts = comments((REPOSITORY / name).read_text(encoding="utf-8"))
    elif "/templates/" in name:
        texts = template((REPOSITORY / name).read_text(encoding="utf-8"))
    else:
        texts, has_schemes = document((REPOSITORY / name).read_text(encoding="utf-8")), True
    yield from (Fault(name, text.line, message) for text in texts for message in messages(text, has_schemes))


def checked() -> list[str]:
    """The files with texts that users read."""
    return [
        name
        for name in files()
        if (name.startswith(DOCUMENTS) and name.endswith(".md"))
        or (name.startswith(SOURCES) and (name.endswith(".py") or "/templates/" in name))
        or (name.startswith(SOURCES) and "/suites/" in name and name.endswith(".yaml"))
    ]


def main(names: Iterable[str]) -> int:
    """Print the faults of these files; 1 if there is one."""
    found = [fault for name in names for fault in faults(name)]
    for fault in found:
        print(f"{fault.file}:{fault.line}: {fault.message}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or checked()))
