create view security as
select
    p.id as parameter_set_id,
    p.scheme,
    p.ring_dimension,
    p.modulus_bits,
    p.log_q,
    p.log_qp,
    p.plain_modulus,
    p.scale,
    p.slots,
    p.security_2018,
    p.security_2024,
    u.variants,
    p.key_switching,
    p.digits,
    cardinality(p.special_moduli) as special_primes,
    p.scaling,
    p.secret_distribution,
    p.encryption
from parameter_set as p
left join (
    select t.parameter_set_id, array_agg(distinct c.variant) as variants
    from trial as t
    join case_ as c on c.key = t.case_key
    group by t.parameter_set_id
) as u on u.parameter_set_id = p.id;

comment on view security is
    'Every parameter set that a library used, with its security by both tables';
