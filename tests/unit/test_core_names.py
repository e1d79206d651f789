from __future__ import annotations

import pytest

from ciphermark_core import names
from ciphermark_core.errors import UserError


@pytest.mark.parametrize("text", ["a", "Z9", "before-the-change", "v1.2_rc", "0" * 64])
def test_names(text):
    assert names.required(text, "a name") == text


@pytest.mark.parametrize(
    "text",
    ["", "-a", ".a", "a b", "a\n", "\n", "a\0b", "é", "\ud800", "<b>", "a~1", "a:b", "a" * 65, "a" * 200_000],
)
def test_what_is_none_is_told_in_a_line_that_can_be_printed(text):
    with pytest.raises(UserError) as complaint:
        names.required(text, "the label of a run")
    told = str(complaint.value)
    assert told.endswith(f"cannot be the label of a run: {names.RULE}")
    assert told.isascii()
    assert told.isprintable()
    assert len(told) < 300 + len(names.RULE)
