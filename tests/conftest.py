"""What holds for all tests."""

import signal

# A shell starts background jobs with Ctrl-C ignored, and every process that a test starts would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
