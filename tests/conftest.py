"""What holds for all tests."""

import gc
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import databases
import distribution
import needs
import pytest
from _pytest.assertion import rewrite
from hypothesis import HealthCheck, settings

# Processes of tests share the cores: threads of numpy's that wait for theirs took three quarters of its CPU time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# OpenMP's, too, which took ten times the CPU time that they worked.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
# A shell starts background jobs with Ctrl-C ignored, and every process that a test starts would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Containers set PYTHONDONTWRITEBYTECODE: each process would rewrite the assertions of all tests again, and that is half
# of what their collection takes.
sys.dont_write_bytecode = False

# The same examples every time, no deadline, and no complaint of slow drawing: a busy machine is not a wrong result.
# `make test-all` asks for the second profile: --hypothesis-profile=extended.
for profile, examples in (("everyday", 15), ("extended", 60)):
    settings.register_profile(
        profile,
        deadline=None,
        derandomize=True,
        database=None,
        max_examples=examples,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("everyday")


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "extended: changes only with deploy/, setup/ and recipes, or repeats another test at greater length; "
        "left out of `make test`, part of `make test-all`",
    )
    config.addinivalue_line("markers", "images: of the images; part of `.ci/run` where there is an engine")
    config.pluginmanager.register(needs)
    config.pluginmanager.register(databases)
    if not hasattr(config, "workerinput") and config.option.basetemp is None:
        config.pluginmanager.register(Folder(config))
    if getattr(config.option, "numprocesses", None):
        rewrite_once(config)


def rewrite_once(config):
    """Rewrite tests that have changed, on all cores, before several processes do so, each of them all tests."""
    paths, cores = sorted(Path(__file__).parent.rglob("test_*.py")), len(os.sched_getaffinity(0))
    children = []
    for first in range(cores):
        if (child := os.fork()) == 0:
            try:
                for path in paths[first::cores]:
                    _rewrite(path, config)
            finally:
                os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


def _rewrite(path, config):
    """What pytest does when it imports a test: it has no function for this."""
    folder = rewrite.get_cache_dir(path)
    kept = folder / f"{path.stem}{rewrite.PYC_TAIL}"
    if rewrite._read_pyc(path, kept) is None and rewrite.try_makedirs(folder):
        digest, code = rewrite._rewrite_test(path, config)
        rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, digest, kept)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_collection():
    """Thousands of tests stay until the end: no garbage collection is to walk through them again and again."""
    gc.disable()
    yield
    gc.enable()
    gc.collect()
    gc.freeze()


class Folder:
    """The folder of a session, which is kept where tests failed.

    pytest's own is that of all sessions of a user, and each that starts closes it to others: to PostgreSQL servers,
    too, which as root's run as another user.
    """

    def __init__(self, config):
        self.path = config.option.basetemp = tempfile.mkdtemp(prefix="ciphermark-tests-")
        self.is_kept = False

    def pytest_sessionfinish(self, exitstatus):
        self.is_kept = exitstatus == pytest.ExitCode.TESTS_FAILED

    def pytest_unconfigure(self):
        if not self.is_kept:
            # Some 100,000 files of databases: shutil.rmtree takes more than twice the CPU time.
            subprocess.run(["rm", "-rf", self.path], check=False, stderr=subprocess.DEVNULL)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Whole units even where ``-n`` alone is said: files share servers, ports and folders between their tests."""
    return distribution.scheduler(config, log) if config.getoption("dist") in {"load", "loadfile"} else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    if hasattr(config, "workerinput"):  # one of several processes
        items[:] = distribution.longest_first(items, lambda item: item.nodeid)
