from __future__ import annotations

from hypothesis import HealthCheck, settings

# The same examples every time, no deadline, and no complaint of slow drawing: a busy machine is not a wrong result.
settings.register_profile(
    "ciphermark",
    deadline=None,
    derandomize=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ciphermark")
