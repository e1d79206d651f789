select
    run_id,
    experiment,
    operation,
    data_set,
    options_of(dimensions) as options,
    size,
    data_pattern,
    threads,
    scheme,
    variant,
    ring_dimension,
    modulus_bits,
    security_2018,
    stage,
    max(median) filter (where metric = 'time' and phase = stage) as time_s,
    max(median) filter (where metric = 'time' and step = 'evaluate') as evaluate_s,
    sum(median) filter (where metric = 'time' and step in ('serialize', 'deserialize')) as serialization_s,
    max(median) filter (where metric = 'time' and step = 'transfer') as transfer_s,
    max(median) filter (where metric = 'cpu_time' and party = 'client')
    / nullif(max(median) filter (where metric = 'time' and phase = stage), 0) as client_cpu,
    max(median) filter (where metric = 'cpu_time' and party = 'server')
    / nullif(max(median) filter (where metric = 'time' and phase = stage), 0) as server_cpu,
    max(median) filter (where metric = 'peak_memory' and party = 'client') as client_peak_bytes,
    max(median) filter (where metric = 'peak_memory' and party = 'server') as server_peak_bytes,
    comparison_key,
    case_key,
    plain_modulus,
    scale,
    security_bits,
    depth,
    ring_dimension_is_minimum,
    dimensions,
    parameter_set_id
from results
where status = 'ok' and stage is not null
group by
    run_id, experiment, operation, data_set, size, data_pattern, threads, scheme, variant, ring_dimension, modulus_bits,
    security_2018, stage, comparison_key, case_key, plain_modulus, scale, security_bits, depth,
    ring_dimension_is_minimum, dimensions, parameter_set_id
