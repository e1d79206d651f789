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
        phase_of(series.stage, series.party, series.step) as phase,
        sample.repetitions,
        median_of(
            array_agg(sample.value order by sample.value) filter (where series.metric = 'noise_budget')
        ) as noise_budget_bits,
        median_of(
            array_agg(sample.value order by sample.value) filter (where series.metric = 'precision')
        ) as precision_bits
    from series
    join sample on sample.series_id = series.id and sample.series_id = any (array(
        select id from series where trial_id = any (g.trial_ids)
    ))
    where
        series.trial_id = any (g.trial_ids)
        and series.metric in ('noise_budget', 'precision')
        and g.is_counted
        and not sample.is_warmup
    group by series.stage, series.party, series.step, sample.repetitions
) as s;

comment on view noise is
    'Noise budget or precision left: a row per run, case, status, phase and repetitions';
