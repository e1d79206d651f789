"""What callers read of a party's failure."""

from __future__ import annotations

import pytest

from ciphermark_parties.host import outward


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("RuntimeError: bad input (in add)", "RuntimeError: bad input (in add)"),
        ("/build/src/context.cpp:l.281: other keys", "context.cpp:l.281: other keys"),
        ("cannot open '/var/lib/libseal.so.1', twice", "cannot open 'libseal.so.1', twice"),
        ("ask GET http://127.0.0.1/v1/sessions, 1/s and a / b", "ask GET http://127.0.0.1/v1/sessions, 1/s and a / b"),
        (
            'the worker died of exit code 1: Traceback:\n  File "/a/b.py", line 3, in main\nValueError: /a/c is bad',
            "the worker died of exit code 1: ValueError: c is bad",
        ),
        ("died of SIGABRT: terminate called\n  what():  no", "died of SIGABRT: terminate called\n  what():  no"),
    ],
)  # fmt: skip
def test_it_has_no_traceback_and_no_folder(text, expected):
    assert outward(text) == expected
