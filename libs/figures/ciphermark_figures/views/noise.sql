select
    run_id,
    variant,
    scheme,
    ring_dimension,
    modulus_bits,
    security_2018,
    security_2024,
    experiment,
    operation,
    phase,
    size,
    data_pattern,
    threads,
    repetitions,
    coalesce(noise_budget_bits, precision_bits) as bits,
    case when noise_budget_bits is not null then 'noise budget' else 'precision' end as meaning,
    comparison_key
from noise
