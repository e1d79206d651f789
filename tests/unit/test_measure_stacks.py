"""Call stacks: what the sampler writes becomes frames of the library, under the name of what was executed."""

from __future__ import annotations

from time import perf_counter

import pytest

from ciphermark_measure.probes.stacks import Stacks, marked, stacks_of, tidied

BOUND = (
    "main (worker.py);mark (operation.py);mul (operation);nanobind::detail::call<false>(lambda) (_seal.so);"
    "ciphermark::KernelBound<int, seal::Ciphertext>::run (_seal.so)"
)


@pytest.mark.parametrize(
    ("raw", "tidy"),
    [
        (f"{BOUND};seal::Evaluator::multiply (_seal.so) 7\n", "mul;seal::Evaluator::multiply 7\n"),
        # Stacks that differ in what is left out are one.
        (f"{BOUND};a(int) (b.so) 2\n{BOUND};a(long) (b.so) 3\n", "mul;a 5\n"),
        # The innermost mark counts; without one, it is none of ours.
        ("stage (operation);run (x.py);add (operation);f (lib.so) 1\n", "add;f 1\n"),
        ("idle (worker.py) 9\n", ""),
        # Unnamed frames have the name of their library, once.
        ("mul (operation);0x7f12 (libc.so.6);0x7f34 (libc.so.6) 1\n", "mul;libc 1\n"),
        (
            "mul (operation);std::vector<int, std::allocator<int> >::reserve (x.so);"
            "void (anonymous namespace)::work<int>(std::span<int>) const (x.so) 1\n",
            "mul;std::vector::reserve;work 1\n",
        ),
        (
            "mul (operation);seal::Ciphertext::operator= (x.so);operator new(unsigned long) (y.so) 1\n",
            "mul;seal::Ciphertext::operator=;operator new 1\n",
        ),
        # Rare ones are left out.
        ("mul (operation);a (b.so) 9990\nmul (operation);c (b.so) 9\n", "mul;a 9990\n"),
    ],
)
def test_stacks_are_tidied(raw: str, tidy: str) -> None:
    assert tidied(raw) == tidy


REASON = Stacks().available()


@pytest.mark.skipif(REASON is not None, reason=REASON or "")
def test_a_loop_is_found_in_its_own_stacks() -> None:
    def busy() -> None:
        end = perf_counter() + 2.0  # a loaded host samples late
        while perf_counter() < end:
            sum(range(10_000))

    probe = Stacks()
    probe.start()
    marked("mul", busy)()
    values = probe.stop()
    stacks = list(stacks_of(probe.text))
    assert values == {"stack_samples": sum(count for _, count in stacks)}
    assert {frames[0] for frames, _ in stacks} == {"mul"}
    assert any("busy (test_measure_stacks.py)" in frames for frames, _ in stacks)


def test_a_host_without_the_sampler_gives_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ciphermark_measure.probes.stacks.sampler", lambda: None)
    assert Stacks().available() == "py-spy is not installed; run `python3 setup/install.py`"


def test_a_sampler_that_is_refused_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    program = tmp_path / "py-spy"
    program.write_text(
        "#!/bin/sh\necho 'Permission Denied: try running again with elevated permissions'\nexit 1\n"
    )
    program.chmod(0o755)
    monkeypatch.setattr("ciphermark_measure.probes.stacks.sampler", lambda: program)
    assert Stacks().available() == (
        "py-spy cannot sample this process: Permission Denied: try running again with elevated permissions"
    )
