"""Two builds of SEAL, of which one does more work than asked for: see :mod:`bench.gate`."""
