"""Sources of measurement error on the host or in a library: the fixed kernel, time without a core, caches."""
