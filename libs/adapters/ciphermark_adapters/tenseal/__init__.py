"""TenSEAL through its vector API: ``bfv_vector`` and ``ckks_vector``."""
