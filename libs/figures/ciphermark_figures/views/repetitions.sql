select
    run_id,
    scheme,
    experiment,
    operation,
    case when is_composed then operation || ' (composed)' else operation end as label,
    repetitions,
    variant,
    ring_dimension,
    modulus_bits,
    ring_dimension_is_minimum,
    size,
    ciphertexts,
    data_pattern,
    threads,
    log_qp,
    security_2018,
    security_2024,
    status,
    max(n) filter (where metric = 'time') as n,
    max(median) filter (where metric = 'time') as median,
    max(ci_low) filter (where metric = 'time') as ci_low,
    max(ci_high) filter (where metric = 'time') as ci_high,
    max(max) filter (where metric = 'peak_memory') as peak_bytes,
    max(median) filter (where metric in ('noise_budget', 'precision')) as bits_left,
    min(error) as error,
    comparison_key,
    case_key
from results
where phase = 'operation' or phase is null
group by
    run_id, scheme, experiment, operation, is_composed, repetitions, variant, ring_dimension, modulus_bits, ring_dimension_is_minimum, size,
    ciphertexts, data_pattern, threads, log_qp, security_2018, security_2024, status, comparison_key, case_key
