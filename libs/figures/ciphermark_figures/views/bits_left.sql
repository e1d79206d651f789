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
    data_pattern,
    threads,
    n,
    median as bits,
    min,
    max,
    case metric when 'noise_budget' then 'noise budget' else metric end as meaning,
    comparison_key
from results
where metric in ('noise_budget', 'precision')
