"""The time of a program whose independent nodes execute on several threads. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from heapq import heappop, heappush

from ciphermark_contract.program import Program


def makespans(program: Program, costs: Sequence[Sequence[float]], threads: int) -> list[float]:
    """The time of all nodes on ``threads`` threads, for each of several costs in seconds by node, by list scheduling: a
    free thread takes the first node in the program's order whose operands exist. It lies between max(work / threads,
    span) and the work.
    """
    if threads == 1:
        return [math.fsum(seconds) for seconds in costs]
    makers = [-1] * len(program.inputs) + [
        index for index, node in enumerate(program.nodes) for _ in node.results
    ]
    waits: list[int] = []
    followers: list[list[int]] = [[] for _ in program.nodes]
    for index, node in enumerate(program.nodes):
        before = {makers[operand] for operand in node.operands} - {-1}
        waits.append(len(before))
        for maker in before:
            followers[maker].append(index)
    return [_makespan(seconds, [*waits], followers, threads) for seconds in costs]


def _makespan(
    seconds: Sequence[float], waits: list[int], followers: Sequence[Sequence[int]], threads: int
) -> float:
    """The time of nodes that wait for so many others, which ``followers`` follow."""
    ready = [index for index, count in enumerate(waits) if not count]  # sorted, and thus a heap
    running: list[tuple[float, int]] = []
    now = 0.0
    while ready or running:
        while ready and len(running) < threads:
            index = heappop(ready)
            heappush(running, (now + seconds[index], index))
        now, done = heappop(running)
        for follower in followers[done]:
            waits[follower] -= 1
            if not waits[follower]:
                heappush(ready, follower)
    return now
