-- Views of what is not time: depth, noise and security.

create view depths as
select
    g.run_id,
    g.variant,
    g.library,
    g.scheme,
    g.ring_dimension,
    g.modulus_bits,
    g.log_q,
    g.log_qp,
    g.security_2018,
    g.security_2024,
    g.operation,
    g.size,
    g.data_pattern,
    g.threads,
    (g.dimensions ->> 'cap')::integer as cap,
    s.depth,
    s.is_capped,
    g.status,
    g.error,
    g.comparison_key,
    g.case_key,
    g.plain_modulus,
    g.scale,
    g.security_bits,
    g.ring_dimension_is_minimum,
    g.dimensions,
    g.parameter_set_id,
    g.division,
    g.security_compared,
    g.key_switching,
    g.digits,
    g.special_primes,
    g.scaling,
    g.secret_distribution,
    g.encryption
from trial_group as g
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
where g.experiment in (select name from experiment where determines = 'depth');

comment on view depths is
    'How many operations in a row a parameter set stands: a row per run, case and status of the depth '
    'experiment';
