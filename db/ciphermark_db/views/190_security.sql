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
    u.variants
from parameter_set as p
left join (
    select t.parameter_set_id, array_agg(distinct c.variant) as variants
    from trial as t
    join case_ as c on c.key = t.case_key
    group by t.parameter_set_id
) as u on u.parameter_set_id = p.id;

comment on view security is
    'Every parameter set that a library used, with its security by both tables';
comment on column security.parameter_set_id is 'Identity of the parameter set';
comment on column security.scheme is 'bfv, bgv or ckks';
comment on column security.ring_dimension is 'N';
comment on column security.modulus_bits is 'Sizes of the primes in bits, special primes last';
comment on column security.log_q is 'log2 of the ciphertext modulus Q';
comment on column security.log_qp is 'log2 of Q times the special primes: what security depends on';
comment on column security.plain_modulus is 'Plaintext modulus t (bfv, bgv); otherwise NULL';
comment on column security.scale is 'Default encoding scale (ckks); otherwise NULL';
comment on column security.slots is 'Values in one ciphertext';
comment on column security.security_2018 is
    'Classical security in bits (0, 128, 192, 256) by the 2018 standard';
comment on column security.security_2024 is
    'Classical security in bits (0, 128, 192, 256) by the 2024 guidelines';
comment on column security.variants is 'Variants that used it, in alphabetical order';
