"""What on the host, or in a library, disturbs samples: the fixed kernel, time kept from the core, caches."""
