-- name: latency
select
    variant,
    scheme,
    ring_dimension,
    log_qp,
    modulus_bits,
    security_2018,
    security_2024,
    experiment,
    operation,
    phase,
    size,
    ciphertexts,
    data_pattern,
    threads,
    n,
    median,
    ci_low,
    ci_high,
    comparison_key
from results
where
    run_id = %(run_id)s
    and metric = 'time'
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
order by operation, size, ring_dimension, median, variant;

-- name: by_data
select
    variant,
    operation,
    ring_dimension,
    size,
    phase,
    max(median) filter (where data_pattern = 'same') as same_s,
    max(median) filter (where data_pattern = 'random') as random_s,
    max(median) filter (where data_pattern = 'random') / max(median) filter (where data_pattern = 'same') as ratio,
    min(comparison_key) as comparison_key
from results
where
    run_id = %(run_id)s
    and metric = 'time'
    and experiment in ('arithmetic', 'rotation')
    and phase = %(phase)s
    and scheme = %(scheme)s
    and security_2018 = %(security)s
    and ring_dimension = any (%(ns)s)
    and operation = any (%(operations)s)
    and variant = any (%(variants)s)
    and size = any (%(sizes)s)
    and threads = %(threads)s
group by variant, operation, ring_dimension, size, phase
having count(distinct data_pattern) = 2
order by operation, ring_dimension, size, variant;
