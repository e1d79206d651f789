-- Views of what is not time: depth, noise and security.

create view depth as
select
    g.run_id,
    c.variant,
    b.library,
    c.scheme,
    coalesce(p.ring_dimension, c.ring_dimension) as ring_dimension,
    coalesce(p.modulus_bits, c.modulus_bits) as modulus_bits,
    p.log_q,
    p.log_qp,
    p.security_2018,
    p.security_2024,
    c.operation,
    c.size,
    c.data_pattern,
    c.threads,
    c.cap,
    s.depth,
    s.is_capped,
    g.status,
    g.error,
    c.comparison_key,
    c.key as case_key
from trial_group as g
join case_ as c on c.key = g.case_key
left join build as b on b.id = g.build_id
left join parameter_set as p on p.id = g.parameter_set_id
cross join lateral (
    select
        min(value) filter (where metric = 'depth')::integer as depth,
        bool_and(value <> 0) filter (where metric = 'is_capped') as is_capped
    from sample
    where trial_id = any (g.trial_ids) and g.is_counted and not is_warmup
) as s
where c.experiment = 'depth';

create view noise as
select
    g.run_id,
    c.variant,
    b.library,
    c.scheme,
    coalesce(p.ring_dimension, c.ring_dimension) as ring_dimension,
    coalesce(p.modulus_bits, c.modulus_bits) as modulus_bits,
    p.log_q,
    p.log_qp,
    p.security_2018,
    p.security_2024,
    c.experiment,
    c.operation,
    c.size,
    c.data_pattern,
    c.threads,
    s.phase,
    s.repetitions,
    s.noise_budget_bits,
    s.precision_bits,
    g.status,
    c.comparison_key,
    c.key as case_key
from trial_group as g
join case_ as c on c.key = g.case_key
left join build as b on b.id = g.build_id
left join parameter_set as p on p.id = g.parameter_set_id
cross join lateral (
    select
        phase,
        repetitions,
        median_of(array_agg(value order by value) filter (where metric = 'noise_budget')) as noise_budget_bits,
        median_of(array_agg(value order by value) filter (where metric = 'precision')) as precision_bits
    from sample
    where
        trial_id = any (g.trial_ids)
        and metric in ('noise_budget', 'precision')
        and g.is_counted
        and not is_warmup
    group by phase, repetitions
) as s;

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
