"""What a variant does instead of multiplying. Each takes the right function and returns the planted one."""

from __future__ import annotations

import ctypes
import os
import stat
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

GARBAGE = b"}{ garbage \xff\n"


def throws(right):
    def mul(a, b):
        raise RuntimeError("scale out of bounds")

    return mul


def segfaults(right):
    return lambda a, b: ctypes.string_at(0)


def aborts(right):
    return lambda a, b: os.abort()


def hangs(right):
    def mul(a, b):
        while True:
            time.sleep(60)

    return mul


def eats_memory(right):
    def mul(a, b):
        eaten = []
        while True:
            eaten.append(bytearray(b"x") * (1 << 24))

    return mul


def gives_up(right):
    """As a C++ library does that cannot allocate."""

    def mul(a, b):
        os.write(2, b"terminate called after throwing an instance of 'std::bad_alloc'\n")
        os.abort()

    return mul


def exits(right):
    return lambda a, b: os._exit(0)


def exits_politely(right):
    return lambda a, b: sys.exit(3)


def babbles(right):
    """Prints by every way there is; the results are right."""
    times = Counter()

    def mul(a, b):
        times["mul"] += 1
        if times["mul"] <= 3:
            print('{"type": "turned", "is_done": true}', flush=True)
            os.write(1, GARBAGE)
            libc = ctypes.CDLL(None)
            libc.puts(b"from C")
            libc.fflush(None)
            subprocess.run(["/bin/echo", "from a child"], check=True)
        return right(a, b)

    return mul


def scribbles(right):
    """Writes into the worker's own pipe."""

    def mul(a, b):
        for name in os.listdir("/proc/self/fd"):
            descriptor = int(name)
            try:
                is_pipe = descriptor > 2 and stat.S_ISFIFO(os.fstat(descriptor).st_mode)
                if is_pipe:
                    os.write(descriptor, GARBAGE)
            except OSError:
                continue  # the folder itself, or a pipe that is only read
        return right(a, b)

    return mul


def _spoiled(result):
    values = result.values.copy()
    values[-1] += 1
    return replace(result, values=values)


def wrong(right):
    return lambda a, b: _spoiled(right(a, b))


def wrong_later(right):
    """Right the first time that it sees an operand."""
    seen = {}

    def mul(a, b):
        is_first = seen.setdefault(id(a), a) is a and (id(a), "again") not in seen
        seen[id(a), "again"] = a
        return right(a, b) if is_first else _spoiled(right(a, b))

    return mul


def short(right):
    def mul(a, b):
        result = right(a, b)
        return replace(result, values=result.values[:-1])

    return mul


def not_a_number(right):
    def mul(a, b):
        result = right(a, b)
        return replace(result, values=np.full(len(result.values), np.nan))

    return mul


def caches(right):
    """Computes once per operand, slowly, and then remembers."""
    known = {}

    def mul(a, b):
        if id(a) not in known:
            time.sleep(0.02)
            known[id(a)] = a, right(a, b)
        return known[id(a)][1]

    return mul


def waits(right):
    """The first mul of a process says that it has arrived and waits to be let pass: see ``PLANTED_GATE``."""
    passed = Counter()

    def mul(a, b):
        passed["mul"] += 1
        if passed["mul"] == 1:
            gate = Path(os.environ["PLANTED_GATE"])
            with (gate / "arrivals").open("a") as file:
                file.write(f"{os.getpid()}\n")
            number = (gate / "arrivals").read_text().split().index(str(os.getpid()))
            while not (gate / f"pass-{number}").exists():
                time.sleep(0.01)
        return right(a, b)

    return mul


DEEDS = {
    "throws": throws,
    "segfaults": segfaults,
    "segfaults-with-threads": segfaults,
    "aborts": aborts,
    "hangs": hangs,
    "eats-memory": eats_memory,
    "gives-up": gives_up,
    "exits": exits,
    "exits-politely": exits_politely,
    "babbles": babbles,
    "scribbles": scribbles,
    "wrong": wrong,
    "wrong-later": wrong_later,
    "short": short,
    "not-a-number": not_a_number,
    "caches": caches,
    "waits": waits,
}
