create view noise as
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
    g.experiment,
    g.operation,
    g.size,
    g.data_pattern,
    g.threads,
    s.phase,
    s.repetitions,
    s.noise_budget_bits,
    s.precision_bits,
    g.status,
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
