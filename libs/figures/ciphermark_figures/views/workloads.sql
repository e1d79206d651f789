select
    run_id,
    experiment,
    operation,
    data_set,
    (
        select string_agg(each.key || ' ' || each.value, ', ' order by each.key)
        from jsonb_each_text(dimensions - 'data_set') as each
    ) as options,
    size,
    ciphertexts,
    threads,
    scheme,
    variant,
    status,
    ring_dimension,
    modulus_bits,
    log_qp,
    security_2018,
    security_2024,
    split_part(phase, '.', 1) as stage,
    split_part(phase, '.', 2) as part,
    metric,
    unit,
    n,
    median,
    ci_low,
    ci_high,
    error,
    comparison_key,
    case_key
from results
