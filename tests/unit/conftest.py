from __future__ import annotations

from hypothesis import settings

# The same examples every time, and no deadline: a busy machine is not a wrong result.
settings.register_profile("ciphermark", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("ciphermark")
