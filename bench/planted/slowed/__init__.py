"""Two builds of SEAL, one of which does more work than requested: see :mod:`bench.gate`."""
