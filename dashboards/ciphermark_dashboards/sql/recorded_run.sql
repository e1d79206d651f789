-- name: libraries
-- The number of cases of each variant with a result, and without one.
select
    variant,
    min(library) as library,
    min(library_version) as version,
    bool_or(hexl) as hexl,
    bool_or(is_debug) as is_debug,
    count(distinct case_key) filter (where status = 'ok') as ok,
    count(distinct case_key) filter (where status = 'unsupported') as unsupported,
    count(distinct case_key) filter (where status not in ('ok', 'unsupported')) as failed
from case_info
where run_id = any (%(parts)s)
group by variant
order by variant;

-- name: parameter_sets
-- The parameters of cases with a result, those of most cases first.
select
    scheme,
    ring_dimension,
    modulus_bits,
    special_primes,
    log_qp,
    security_2018,
    security_2024,
    array_agg(distinct variant order by variant) as variants,
    count(distinct case_key) as cases
from case_info
where run_id = any (%(parts)s) and status = 'ok' and modulus_bits is not null
group by scheme, ring_dimension, modulus_bits, special_primes, log_qp, security_2018, security_2024
order by cases desc, scheme, ring_dimension, log_qp
limit 60;
