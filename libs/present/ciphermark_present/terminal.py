"""Tables in a terminal: never wider than it. Long texts are wrapped, moved to footnotes, or left out."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product, zip_longest

from rich.cells import cell_len
from rich.text import Text

from ciphermark_core.controls import visible
from ciphermark_present.console import Terminal
from ciphermark_present.printed import Head, Printed, with_footnotes

_GAPS = (2, 1)  # between columns; the smaller one where only that fits
_MIN_PROSE = 16
_MAX_LINES = 5  # of a cell
_MAX_LINES_AMONG_NUMBERS = 2  # with more, rows would look like blocks of text
_MAX_ROWS = 16  # of a table among others that must fit
_FIRST_SHARE = 0.7
_CONSOLE = Terminal(color_system=None, legacy_windows=False)  # wraps texts


def show(console: Terminal, tables: Iterable[Printed]) -> None:
    """Print tables with their titles, at most as wide as the console."""
    for table in tables:
        for line in _printed(table, console.width):
            console.print(line, soft_wrap=True)


def _printed(table: Printed, width: int) -> Iterator[Text]:
    """The printed lines of a table, including an empty line before it."""
    yield Text("")
    yield from wrapped(table.title, width, "bold")
    yield from wrapped(". ".join(filter(None, (table.about, *table.legend))), width)
    yield from map(Text, lines(table, width))
    if table.hidden_rows:
        yield Text(f"… {table.hidden_rows} more rows")
    if table.explained:
        yield Text("")
        yield from wrapped(table.explained, width)


def wrapped(text: str, width: int, style: str = "") -> Iterator[Text]:
    """A text in lines of at most ``width`` characters, none of which ends with a space."""
    for line in textwrap.wrap(visible(text), width, break_on_hyphens=False):
        yield Text(line, style=style)


def height(table: Printed, width: int) -> int:
    """The number of lines that :func:`show` prints for a table."""
    return sum(1 for _ in _printed(table, width))


def fitting(groups: Sequence[Sequence[Printed]], width: int, room: int) -> list[list[Printed]]:
    """For each group, the tables that together fit in ``room`` lines. Pure.

    A long table loses rows. The first group gets most of the room, and every other one an equal share of the rest. The
    groups then get the remaining room in their order. Tables are selected from all over a group, since neighbors are
    similar: of one scheme and ring. The explanation below the last table of a group moves to the last table printed.
    """
    shortened = [list(map(_shortened, group)) for group in groups]
    heights = [[height(replace(table, explained=""), width) for table in group] for group in shortened]
    below = [0 if not group else _height_of_explanation(group[-1], width) for group in groups]
    chosen: list[set[int]] = [set() for _ in groups]
    for is_shared in (True, False):
        for place, own in enumerate(heights):
            share = _share(room, place, len(groups)) if is_shared else room
            for index in _spread(len(own)):
                needed = own[index] + (0 if chosen[place] else below[place])
                if index not in chosen[place] and needed <= share:
                    chosen[place].add(index)
                    share, room = share - needed, room - needed
    return [
        _explained_last([group[index] for index in sorted(own)], group)
        for group, own in zip(shortened, chosen, strict=True)
    ]


def _share(room: int, place: int, groups: int) -> int:
    return room // (groups - place) if place else int(_FIRST_SHARE * room)


def _spread(count: int) -> list[int]:
    """All indices, ordered so that any number of the first ones are spread evenly."""
    bits = max(1, (count - 1).bit_length())
    return sorted(range(count), key=lambda index: f"{index:0{bits}b}"[::-1])


def _shortened(table: Printed) -> Printed:
    more = len(table.rows) - _MAX_ROWS
    return replace(table, rows=table.rows[:_MAX_ROWS], hidden_rows=more) if more > 1 else table


def _height_of_explanation(table: Printed, width: int) -> int:
    return height(table, width) - height(replace(table, explained=""), width)


def _explained_last(tables: list[Printed], group: Sequence[Printed]) -> list[Printed]:
    explained = group[-1].explained if group else ""
    return [*tables[:-1], replace(tables[-1], explained=explained)] if tables and explained else tables


def lines(table: Printed, width: int) -> Iterator[str]:
    """The table without its title, in lines of at most ``width`` characters.

    Prose takes up to two lines, or five in a table without numbers; with less room, long texts become footnotes. Then
    columns are left out, those with the largest ``drop`` first; a line below names them. Without room for the columns
    of ``drop`` 0, names of rows take more lines, columns are left out from the right, and a name wider than ``width``
    is cut.
    """
    table = _readable(table)
    notes: tuple[str, ...] = ()
    places, chosen = list(range(len(table.heads))), _layout(table, width)
    if chosen is None:
        table, notes = with_footnotes(table)
        chosen = _layout(table, width)
    while chosen is None and any(table.heads[place].drop for place in places[1:]):
        places.remove(max(places[1:], key=lambda place: (table.heads[place].drop, place)))
        chosen = _layout(_only(table, places), width)
    if chosen is None:
        chosen = _layout(_only(table, places), width, has_long_names=True)
    while chosen is None and len(places) > 1:
        places.pop()
        chosen = _layout(_only(table, places), width, has_long_names=True)
    shown = _only(table, places)
    yield from _rendered(shown, *(chosen or (True, 1)), width)
    marks = {text for row in shown.rows for text in row}
    for note in notes:
        if note.partition(" ")[0] in marks:
            yield from textwrap.wrap(note, width, subsequent_indent="    ", break_long_words=False)
    if left_out := [head.text for place, head in enumerate(table.heads) if place not in places]:
        names = ", ".join(dict.fromkeys(left_out))
        text = f"Hidden columns: {names}. To show them, widen the terminal or use --format md"
        yield from textwrap.wrap(text, width, subsequent_indent="    ")


def named(facts: Iterable[tuple[str, str]], width: int, indent: str = "") -> Iterator[str]:
    """Names with their texts, one per line; a long text continues below its own beginning."""
    facts = list(facts)
    room = max((len(name) for name, _ in facts), default=0)
    below = " " * (len(indent) + room + max(_GAPS))
    for name, text in facts:
        first = f"{indent}{name:<{room}}{' ' * max(_GAPS)}"
        wrapped = textwrap.wrap(
            text, width, initial_indent=first, subsequent_indent=below, break_on_hyphens=False
        )
        yield from wrapped or [first.rstrip()]


def _readable(table: Printed) -> Printed:
    """The table with its texts as the console shows them, for measuring widths."""
    heads = tuple(replace(head, text=visible(head.text)) for head in table.heads)
    return replace(table, heads=heads, rows=tuple(tuple(map(visible, row)) for row in table.rows))


def _only(table: Printed, places: Sequence[int]) -> Printed:
    rows = tuple(tuple(row[place] for place in places) for row in table.rows)
    heads = tuple(table.heads[place] for place in places)
    return Printed(table.title, table.about, heads, rows, sum(place < table.keys for place in places))


def _columns(table: Printed) -> list[tuple[str, ...]]:
    return list(zip(*table.rows, strict=True)) if table.rows else [()] * len(table.heads)


def _layout(table: Printed, width: int, has_long_names: bool = False) -> tuple[bool, int] | None:
    """Whether heads stay on one line, and the gap, with which a table fits; ``None`` where it does not fit. Long names
    of rows take any number of lines.
    """
    for is_whole, gap in product((True, False), _GAPS):
        if _has_room(table, is_whole, width - gap * (len(table.heads) - 1), has_long_names):
            return is_whole, gap
    return None


def _has_room(table: Printed, is_whole: bool, room: int, has_long_names: bool) -> bool:
    columns = list(zip(table.heads, _columns(table), strict=True))
    room -= sum(_fixed(head, texts, is_whole) for head, texts in columns if not head.is_prose)
    prose = [(head, texts) for head, texts in columns if head.is_prose]
    if sum(_least(head, texts) for head, texts in prose) > room:
        return False
    names = table.heads[: table.keys] if has_long_names else ()
    most = _MAX_LINES_AMONG_NUMBERS if any(head.is_number for head in table.heads) else _MAX_LINES
    return all(
        len(textwrap.wrap(text, width)) <= most
        for width, (head, texts) in zip(_prose_widths(prose, room), prose, strict=True)
        if head not in names
        for text in texts
    )


def _prose_widths(columns: Sequence[tuple[Head, Sequence[str]]], room: int) -> list[int]:
    """The widths of columns of prose, together no more than ``room``: the minimum of each, and equal shares of the rest
    for those with longer texts.
    """
    widths = [_least(head, texts) for head, texts in columns]
    longest = [max(map(cell_len, (head.text, *texts))) for head, texts in columns]
    places = sorted(range(len(columns)), key=lambda place: longest[place] - widths[place])
    rest = room - sum(widths)
    for count, place in zip(range(len(places), 0, -1), places, strict=True):
        more = max(0, min(longest[place] - widths[place], rest // count))
        widths[place] += more
        rest -= more
    return widths


def _fixed(head: Head, texts: Sequence[str], is_whole: bool) -> int:
    """The width in which no text takes two lines; the head takes one line, or breaks between words."""
    words = [head.text] if is_whole else head.text.split()
    return max(map(cell_len, (*words, *texts, " ")))


def _least(head: Head, texts: Sequence[str]) -> int:
    """The width of prose in which no word is broken, and which is readable."""
    longest = max((cell_len(word) for text in (head.text, *texts) for word in text.split()), default=1)
    return max(longest, min(max(_MIN_PROSE, head.min_width), max(map(cell_len, (head.text, *texts)))))


def _rendered(table: Printed, is_whole: bool, gap: int, width: int) -> Iterator[str]:
    """The heads, which end on one line, and the rows; without :class:`rich.table.Table`, which takes a second for a
    hundred rows of a view.
    """
    columns = _columns(table)
    widths = _widths(table.heads, columns, is_whole, width - gap * (len(table.heads) - 1))
    heads = [
        [head.text]
        if is_whole
        else textwrap.wrap(head.text, _fixed(head, texts, False), break_on_hyphens=False) or [""]
        for head, texts in zip(table.heads, columns, strict=True)
    ]
    height = max(map(len, heads), default=0)
    sides = [head.is_number for head in table.heads]
    for parts in zip(*([""] * (height - len(parts)) + parts for parts in heads), strict=True):
        yield _line(parts, widths, sides, gap)
    for row in table.rows:
        cells = map(_parts, row, widths, (head.is_prose for head in table.heads))
        for parts in zip_longest(*cells, fillvalue=""):
            yield _line(parts, widths, sides, gap)


def _parts(text: str, room: int, is_prose: bool) -> list[str]:
    """The lines of a text: prose is wrapped, other texts are cut."""
    if cell_len(text) <= room:
        return [text]
    if is_prose:
        return [line.plain for line in Text(text).wrap(_CONSOLE, room, overflow="fold")]
    whole = Text(text)
    whole.truncate(room, overflow="ellipsis")
    return [whole.plain]


def _widths(heads: Sequence[Head], columns: Sequence[Sequence[str]], is_whole: bool, room: int) -> list[int]:
    """The width of each column; a single one that does not fit has all of the room."""
    fixed = [
        0 if head.is_prose else _fixed(head, texts, is_whole)
        for head, texts in zip(heads, columns, strict=True)
    ]
    prose = [(head, texts) for head, texts in zip(heads, columns, strict=True) if head.is_prose]
    rest = iter(_prose_widths(prose, room - sum(fixed)))
    widths = [next(rest) if head.is_prose else least for head, least in zip(heads, fixed, strict=True)]
    return widths if len(widths) > 1 else [min(each, room) for each in widths]


def _line(parts: Sequence[str], widths: Sequence[int], sides: Sequence[bool], gap: int) -> str:
    """Texts beside each other, those of numbers at the right of their columns."""
    padded = (
        " " * (width - cell_len(part)) + part if is_right else part + " " * (width - cell_len(part))
        for part, width, is_right in zip(parts, widths, sides, strict=True)
    )
    return (" " * gap).join(padded).rstrip()
