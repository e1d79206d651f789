"""What holds for all tests."""

import os
import shutil
import signal
import tempfile

import distribution
import needs
import pytest
from hypothesis import HealthCheck, settings

# Processes of tests share the cores: threads of numpy's that wait for theirs took three quarters of its CPU time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# A shell starts background jobs with Ctrl-C ignored, and every process that a test starts would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

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
    if not hasattr(config, "workerinput") and config.option.basetemp is None:
        config.pluginmanager.register(Folder(config))


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
            shutil.rmtree(self.path, ignore_errors=True)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Whole units even where ``-n`` alone is said: files share servers, ports and folders between their tests."""
    return distribution.scheduler(config, log) if config.getoption("dist") in {"load", "loadfile"} else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    if hasattr(config, "workerinput"):  # one of several processes
        items[:] = distribution.longest_first(items, lambda item: item.nodeid)
