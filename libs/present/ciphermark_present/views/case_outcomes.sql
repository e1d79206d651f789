select
    t.id as trial_id,
    c.variant,
    t.process,
    t.status,
    t.error,
    t.started_at,
    t.duration_s,
    t.max_abs_error,
    t.wrong_slots,
    t.tolerance,
    t.precision_bits,
    b.library,
    b.version,
    coalesce(p.ring_dimension, c.ring_dimension) as ring_dimension,
    p.modulus_bits,
    p.log_qp,
    coalesce(p.plain_modulus, c.plain_modulus) as plain_modulus,
    coalesce(p.scale, 2::double precision ^ c.scale_bits) as scale,
    p.id as parameter_set_id,
    c.division,
    c.security_bits,
    p.key_switching,
    p.digits,
    cardinality(p.special_moduli) as special_primes,
    p.scaling,
    p.secret_distribution,
    p.encryption,
    p.security_2018,
    p.security_2024,
    c.scheme,
    c.experiment,
    c.operation,
    c.size,
    c.data_pattern,
    c.threads
from trial as t
join case_ as c on c.key = t.case_key
left join build as b on b.id = t.build_id
left join parameter_set as p on p.id = t.parameter_set_id
where t.run_id = %(run_id)s and c.comparison_key = %(comparison_key)s
order by c.variant, t.process;
