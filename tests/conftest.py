"""What holds for all tests."""

import signal

import distribution
import needs
import pytest

# A shell starts background jobs with Ctrl-C ignored, and every process that a test starts would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config):
    config.pluginmanager.register(needs)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Whole units even where ``-n`` alone is said: files share servers, ports and folders between their tests."""
    return distribution.scheduler(config, log) if config.getoption("dist") in {"load", "loadfile"} else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    if hasattr(config, "workerinput"):  # one of several processes
        items[:] = distribution.longest_first(items, lambda item: item.nodeid)
