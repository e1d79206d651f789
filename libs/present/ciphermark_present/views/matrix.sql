-- What was measured comes from the ratios, which have the medians, too; what was not, from its trials. What was never
-- resolved is of the levels that others resolved the same case to, and composed where that of others is.
select
    r.run_id,
    r.scheme,
    r.experiment,
    r.operation,
    case when r.is_composed then r.operation || ' (composed)' else r.operation end as label,
    r.phase,
    r.repetitions,
    c.ring_dimension as asked_ring_dimension,
    r.ring_dimension,
    c.modulus_bits,
    c.depth as chain_depth,
    c.division,
    r.size,
    r.data_pattern,
    r.data_set,
    r.threads,
    r.variant,
    'ok' as status,
    r.median_s as median,
    r.rank,
    r.ratio,
    r.ci_low,
    r.ci_high,
    r.verdict,
    r.is_paired,
    r.is_equal_parameters,
    r.fastest_variant,
    r.fastest_ring_dimension,
    r.fastest_log_qp,
    r.fastest_security_2018,
    r.log_qp,
    r.security_2018,
    r.security_2024,
    null as error,
    r.comparison_key,
    r.case_key,
    r.plain_modulus,
    r.scale,
    r.security_bits,
    r.ring_dimension_is_minimum,
    r.dimensions,
    r.parameter_set_id,
    r.security_compared,
    r.key_switching,
    r.digits,
    r.special_primes,
    r.scaling,
    r.secret_distribution,
    r.encryption,
    r.fastest_key_switching,
    r.fastest_digits
from ratios(%(any_security)s) as r
join case_ as c on c.key = r.case_key
union all
select
    t.run_id,
    c.scheme,
    c.experiment,
    c.operation,
    case when k.is_composed then c.operation || ' (composed)' else c.operation end,
    null,
    (c.dimensions ->> 'repetitions')::integer,
    c.ring_dimension,
    coalesce(p.ring_dimension, c.ring_dimension),
    c.modulus_bits,
    c.depth,
    c.division,
    c.size,
    c.data_pattern,
    c.dimensions ->> 'data_set',
    c.threads,
    c.variant,
    t.status,
    null,
    null,
    null,
    null,
    null,
    null,
    null,
    null,
    null,
    null,
    null,
    null,
    p.log_qp,
    coalesce(p.security_2018, l.security_2018),
    p.security_2024,
    string_agg(distinct t.error, E'\n'),
    c.comparison_key,
    c.key,
    coalesce(p.plain_modulus, c.plain_modulus),
    coalesce(p.scale, 2::double precision ^ c.scale_bits),
    c.security_bits,
    c.ring_dimension_is_minimum,
    c.dimensions,
    p.id,
    case c.division when 'best' then c.security_bits else coalesce(p.security_2018, l.security_2018) end,
    p.key_switching,
    p.digits,
    cardinality(p.special_moduli),
    p.scaling,
    p.secret_distribution,
    p.encryption,
    null,
    null
from trial as t
join case_ as c on c.key = t.case_key
left join parameter_set as p on p.id = t.parameter_set_id
left join (
    select distinct t.run_id, c.comparison_key, p.security_2018, t.facts @> '{"is_composed": 1}' as is_composed
    from trial as t
    join case_ as c on c.key = t.case_key
    join parameter_set as p on p.id = t.parameter_set_id
) as l on l.run_id = t.run_id and l.comparison_key = c.comparison_key and p.id is null
cross join lateral (
    select t.facts @> '{"is_composed": 1}' or coalesce(l.is_composed, false) as is_composed
) as k
where t.status <> 'ok'
group by
    t.run_id, c.key, p.id, l.security_2018, t.status, k.is_composed
