"""Answers are computed once, whoever asks meanwhile, and kept within bounds."""

from __future__ import annotations

import asyncio
import threading

import pytest

from ciphermark_benchmark.api.state import Answers, Recent


def test_who_asks_meanwhile_waits_for_the_same_answer() -> None:
    computed = []
    gate = threading.Event()

    def compute() -> bytes:
        computed.append(1)
        gate.wait(60)
        return b"figures"

    async def ask() -> list[bytes]:
        answers = Answers()
        asked = [asyncio.create_task(answers.get("key", compute)) for _ in range(20)]
        await asyncio.sleep(0.05)
        gate.set()
        found = [(await task).body for task in asked]
        return [*found, (await answers.get("key", compute)).body]

    assert asyncio.run(ask()) == [b"figures"] * 21
    assert len(computed) == 1


def test_the_answers_asked_for_longest_ago_go_first() -> None:
    computed: list[str] = []

    async def ask(answers: Answers, key: str) -> None:
        def compute() -> bytes:
            computed.append(key)
            return b"x" * 40

        await answers.get(key, compute)

    async def asked() -> None:
        answers = Answers(max_bytes=100)
        for key in ("a", "b", "a", "c", "a", "b"):
            await ask(answers, key)

    asyncio.run(asked())
    assert computed == ["a", "b", "c", "b"]


def test_what_fails_is_tried_again() -> None:
    async def ask() -> bytes:
        answers = Answers()

        def fail() -> bytes:
            raise LookupError

        with pytest.raises(LookupError):
            await answers.get("key", fail)
        return (await answers.get("key", lambda: b"right")).body

    assert asyncio.run(ask()) == b"right"


def test_equal_bodies_have_equal_tags() -> None:
    async def ask() -> tuple[str, str, str]:
        answers = Answers()
        bodies = {1: b"a", 2: b"a", 3: b"b"}
        found = [await answers.get(key, lambda body=body: body) for key, body in bodies.items()]
        return found[0].etag, found[1].etag, found[2].etag

    first, second, third = asyncio.run(ask())
    assert first == second != third


def test_what_was_asked_a_moment_ago_is_not_asked_again() -> None:
    asked: list[str] = []

    async def ask(recent: Recent[int], key: str) -> int:
        async def look() -> int:
            asked.append(key)
            number = len(asked)
            await asyncio.sleep(0)
            return number

        return await recent.get(key, look)

    async def asked_often() -> list[int]:
        long, short = Recent[int](60), Recent[int](0)
        found = await asyncio.gather(*(ask(long, key) for key in ("a", "a", "b", "a")))
        return [*found, await ask(long, "a"), await ask(short, "c"), await ask(short, "c")]

    assert asyncio.run(asked_often()) == [1, 1, 2, 1, 1, 3, 4]


def test_a_question_that_failed_is_asked_again() -> None:
    async def fail() -> int:
        raise LookupError

    async def answer() -> int:
        return 7

    async def asked() -> int:
        recent = Recent[int](60)
        with pytest.raises(LookupError):
            await recent.get("key", fail)
        return await recent.get("key", answer)

    assert asyncio.run(asked()) == 7
