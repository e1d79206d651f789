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
    (c.dimensions ->> 'cap')::integer as cap,
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
        min(sample.value) filter (where series.metric = 'depth')::integer as depth,
        bool_and(sample.value <> 0) filter (where series.metric = 'is_capped') as is_capped
    from series
    join sample on sample.series_id = series.id and sample.series_id = any (array(
        select id from series where trial_id = any (g.trial_ids)
    ))
    where
        series.trial_id = any (g.trial_ids)
        and series.metric in ('depth', 'is_capped')
        and g.is_counted
        and not sample.is_warmup
) as s
where c.experiment in (select name from experiment where determines = 'depth');

comment on view depth is
    'How many operations in a row a parameter set stands: a row per run, case and status of the depth '
    'experiment';
comment on column depth.depth is
    'Most operations after which the result was still right, least of all processes; NULL where nothing'
    ' counts (see status)';
