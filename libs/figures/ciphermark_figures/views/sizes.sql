select
    run_id,
    variant,
    scheme,
    ring_dimension,
    modulus_bits,
    security_2018,
    experiment,
    phase as object,
    operation as compression,
    size,
    data_pattern,
    threads,
    max(median) filter (where metric = 'size') as bytes,
    max(median) filter (where metric = 'expansion') as expansion,
    comparison_key
from results
where metric in ('size', 'expansion')
group by
    run_id, variant, scheme, ring_dimension, modulus_bits, security_2018, experiment, phase, operation, size,
    data_pattern, threads, comparison_key
having bool_or(metric = 'size')
