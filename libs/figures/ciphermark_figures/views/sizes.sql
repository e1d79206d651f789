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
where metric in ('size', 'expansion')
group by
    run_id, variant, scheme, ring_dimension, modulus_bits, security_2018, experiment, phase, operation, size,
    data_pattern, threads, comparison_key, case_key, plain_modulus, scale, security_bits, depth,
    ring_dimension_is_minimum, dimensions, parameter_set_id
having bool_or(metric = 'size')
