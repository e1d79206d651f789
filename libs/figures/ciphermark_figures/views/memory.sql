select
    run_id,
    variant,
    scheme,
    ring_dimension,
    modulus_bits,
    security_2018,
    experiment,
    operation,
    phase,
    size,
    ciphertexts,
    data_pattern,
    threads,
    n,
    median as peak_bytes,
    comparison_key
from results
where metric = 'peak_memory'
