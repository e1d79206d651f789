-- name: noise
select
    variant,
    scheme,
    ring_dimension,
    modulus_bits,
    operation,
    size,
    data_pattern,
    threads,
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
    and size = any (%(sizes)s)
    and data_pattern = %(data)s
    and threads = %(threads)s
order by operation, ring_dimension, size, variant, repetitions;

-- name: bits_left
select
    variant,
    scheme,
    ring_dimension,
    modulus_bits,
    experiment,
    operation,
    size,
    data_pattern,
    threads,
    n,
    median as bits,
    min,
    max,
    case metric when 'noise_budget' then 'noise budget' else metric end as meaning,
    comparison_key
from results
where
    run_id = %(run_id)s
    and metric in ('noise_budget', 'precision')
    and experiment in ('arithmetic', 'rotation')
    and phase = 'operation'
    and scheme = %(scheme)s
    and security_2018 = %(security)s
    and ring_dimension = any (%(ns)s)
    and operation = any (%(operations)s)
    and variant = any (%(variants)s)
    and size = any (%(sizes)s)
    and data_pattern = %(data)s
    and threads = %(threads)s
order by operation, ring_dimension, size, variant, meaning;

-- name: depth
select
    variant,
    scheme,
    ring_dimension,
    modulus_bits,
    log_qp,
    operation,
    size,
    data_pattern,
    threads,
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
    and size = any (%(sizes)s)
    and data_pattern = %(data)s
    and threads = %(threads)s
order by operation, ring_dimension, size, variant;

-- name: memory
select
    variant,
    scheme,
    ring_dimension,
    modulus_bits,
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
where
    run_id = %(run_id)s
    and metric = 'peak_memory'
    and experiment in ('arithmetic', 'rotation')
    and phase = %(phase)s
    and scheme = %(scheme)s
    and security_2018 = %(security)s
    and ring_dimension = any (%(ns)s)
    and operation = any (%(operations)s)
    and variant = any (%(variants)s)
    and size = any (%(sizes)s)
    and data_pattern = %(data)s
    and threads = %(threads)s
order by operation, ring_dimension, size, variant;

-- name: sizes
select
    variant,
    scheme,
    ring_dimension,
    modulus_bits,
    phase as object,
    operation as compression,
    size,
    data_pattern,
    threads,
    max(median) filter (where metric = 'size') as bytes,
    max(median) filter (where metric = 'expansion') as expansion,
    comparison_key
from results
where
    run_id = %(run_id)s
    and experiment = 'serialization'
    and metric in ('size', 'expansion')
    and scheme = %(scheme)s
    and security_2018 = %(security)s
    and ring_dimension = any (%(ns)s)
    and variant = any (%(variants)s)
    and size = any (%(sizes)s)
    and data_pattern = %(data)s
    and threads = %(threads)s
group by
    variant, scheme, ring_dimension, modulus_bits, phase, operation, size, data_pattern, threads, comparison_key
having bool_or(metric = 'size')
order by object, compression, ring_dimension, size, variant, comparison_key;
