select
    run_id,
    experiment,
    operation,
    data_set,
    size,
    data_pattern,
    threads,
    scheme,
    variant,
    ring_dimension,
    modulus_bits,
    security_2018,
    stage,
    max(median) filter (where metric = 'time' and part = '') as time_s,
    max(median) filter (where metric = 'time' and part = 'evaluate') as evaluate_s,
    sum(median) filter (where metric = 'time' and part in ('serialize', 'deserialize')) as serialization_s,
    max(median) filter (where metric = 'time' and part = 'transfer') as transfer_s,
    max(median) filter (where metric = 'cpu_time' and part = 'client')
    / nullif(max(median) filter (where metric = 'time' and part = ''), 0) as client_cpu,
    max(median) filter (where metric = 'cpu_time' and part = 'server')
    / nullif(max(median) filter (where metric = 'time' and part = ''), 0) as server_cpu,
    max(median) filter (where metric = 'peak_memory' and part = 'client') as client_peak_bytes,
    max(median) filter (where metric = 'peak_memory' and part = 'server') as server_peak_bytes,
    comparison_key,
    case_key
from (
    select
        *,
        split_part(phase, '.', 1) as stage,
        split_part(phase, '.', 2) as part
    from results
    where status = 'ok' and phase is not null
) as found
group by
    run_id, experiment, operation, data_set, size, data_pattern, threads, scheme, variant, ring_dimension, modulus_bits,
    security_2018, stage, comparison_key, case_key
