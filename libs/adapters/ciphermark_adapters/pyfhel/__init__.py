"""Pyfhel 3.5: SEAL behind Cython, driven through ``Pyfhel`` and ``PyCtxt``."""
