-- The parameter sets that variants used, each with the number of its cases and one of them to link to.
select distinct on (run_id, variant, parameter_set_id)
    run_id,
    variant,
    scheme,
    ring_dimension,
    modulus_bits,
    plain_modulus,
    scale,
    log_q,
    log_qp,
    security_2018,
    security_2024,
    secret_distribution,
    key_switching,
    decomposition_digits,
    special_primes,
    scaling,
    parameter_set_id,
    comparison_group,
    count(*) over (partition by run_id, variant, parameter_set_id) as cases
from case_info
where parameter_set_id is not null and log_qp is not null and is_reference is not true
order by run_id, variant, parameter_set_id, case_info_id
