"""How programs load: in peace."""

from __future__ import annotations

import gc
import signal
import threading

import pytest

from ciphermark_core import interruption, loading


def test_garbage_is_left_alone_while_modules_load_and_collected_afterwards() -> None:
    assert gc.isenabled()
    with loading.undisturbed():
        assert not gc.isenabled()
        with loading.undisturbed():  # one command loads another's module
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
    gc.unfreeze()


def test_an_interruption_is_heard_when_all_is_loaded() -> None:
    done = []

    def load() -> None:
        with loading.undisturbed():
            # To this thread: another one of this process that does not hold SIGINT back would get it at once.
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)
            done.append("loaded")

    with pytest.raises(KeyboardInterrupt):
        load()
    assert done == ["loaded"]
    assert gc.isenabled()
    gc.unfreeze()


def test_an_interrupted_program_ends_as_shells_expect() -> None:
    def load():
        def program() -> None:
            raise KeyboardInterrupt

        return program

    with pytest.raises(SystemExit) as ended:
        loading.run(load)
    assert ended.value.code == interruption.EXIT_CODE == 130
    gc.unfreeze()
