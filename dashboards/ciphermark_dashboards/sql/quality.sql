-- name: noise
select
    variant,
    scheme,
    ring_dimension,
    modulus_bits,
    operation,
    data_pattern,
    repetitions,
    coalesce(noise_budget_bits, precision_bits) as bits,
    case when noise_budget_bits is not null then 'noise budget' else 'precision' end as meaning,
    comparison_key
from noise
where
    run_id = %(run_id)s
    and experiment = 'noise'
    and phase = 'operation'
    and scheme = %(scheme)s
    and security_2018 = %(security)s
    and ring_dimension = any (%(ns)s)
    and operation = any (%(operations)s)
    and variant = any (%(variants)s)
    and data_pattern = %(data)s
order by operation, ring_dimension, variant, repetitions;

-- name: depth
select
    variant,
    scheme,
    ring_dimension,
    modulus_bits,
    log_qp,
    operation,
    data_pattern,
    depth,
    is_capped,
    cap,
    status,
    error,
    comparison_key
from depth
where
    run_id = %(run_id)s
    and scheme = %(scheme)s
    and coalesce(security_2018 = %(security)s, true)
    and ring_dimension = any (%(ns)s)
    and operation = any (%(operations)s)
    and variant = any (%(variants)s)
    and data_pattern = %(data)s
order by operation, ring_dimension, variant;

-- name: memory
select
    variant,
    scheme,
    ring_dimension,
    operation,
    phase,
    size,
    ciphertexts,
    max(median) as peak_bytes,
    min(comparison_key) as comparison_key
from results
where
    run_id = %(run_id)s
    and metric = 'peak_memory'
    and phase = %(phase)s
    and scheme = %(scheme)s
    and security_2018 = %(security)s
    and ring_dimension = any (%(ns)s)
    and operation = any (%(operations)s)
    and variant = any (%(variants)s)
group by variant, scheme, ring_dimension, operation, phase, size, ciphertexts
order by operation, ring_dimension, size, variant;

-- name: sizes
select
    variant,
    scheme,
    ring_dimension,
    phase as object,
    operation as compression,
    max(median) filter (where metric = 'size') as bytes,
    max(median) filter (where metric = 'expansion') as expansion,
    min(comparison_key) as comparison_key
from results
where
    run_id = %(run_id)s
    and experiment = 'serialization'
    and scheme = %(scheme)s
    and security_2018 = %(security)s
    and ring_dimension = any (%(ns)s)
    and variant = any (%(variants)s)
group by variant, scheme, ring_dimension, phase, operation
having bool_or(metric = 'size')
order by object, compression, ring_dimension, variant;
