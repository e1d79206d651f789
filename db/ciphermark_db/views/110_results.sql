create view results as
select
    g.run_id,
    r.suite,
    r.started_at,
    h.hostname as host,
    h.fingerprint as host_fingerprint,
    c.variant,
    b.library,
    b.version as library_version,
    b.hexl,
    b.is_debug,
    c.scheme,
    coalesce(p.ring_dimension, c.ring_dimension) as ring_dimension,
    coalesce(p.modulus_bits, c.modulus_bits) as modulus_bits,
    p.log_q,
    p.log_qp,
    p.security_2018,
    p.security_2024,
    c.experiment,
    c.operation,
    s.phase,
    c.size,
    (c.size + coalesce(p.slots, c.slots) - 1) / coalesce(p.slots, c.slots) as ciphertexts,
    c.data_pattern,
    c.threads,
    s.metric,
    m.unit,
    coalesce(s.repetitions, (c.dimensions ->> 'repetitions')::integer) as repetitions,
    cardinality(s.sorted) as n,
    median_of(s.sorted) as median,
    interval_low(s.sorted) as ci_low,
    interval_high(s.sorted) as ci_high,
    mad_of(s.sorted) as mad,
    s.sorted[1] as min,
    s.sorted[cardinality(s.sorted)] as max,
    g.status,
    g.error,
    c.comparison_key,
    c.key as case_key,
    c.depth,
    c.ring_dimension_is_minimum,
    c.dimensions ->> 'data_set' as data_set,
    s.stage,
    s.party,
    s.step,
    c.dimensions,
    m.direction,
    m.floor,
    m.floor_kind,
    g.is_composed
from trial_group as g
join run as r on r.id = g.run_id
join host as h on h.id = r.host_id
join case_ as c on c.key = g.case_key
left join build as b on b.id = g.build_id
left join parameter_set as p on p.id = g.parameter_set_id
left join lateral (
    select
        phase_of(series.stage, series.party, series.step) as phase,
        series.stage,
        series.party,
        series.step,
        series.metric,
        sample.repetitions,
        array_agg(sample.value order by sample.value) as sorted
    from series
    join sample on sample.series_id = series.id and sample.series_id = any (array(
        select id from series where trial_id = any (g.trial_ids)
    ))
    where series.trial_id = any (g.trial_ids) and g.is_counted and not sample.is_warmup
    group by series.stage, series.party, series.step, series.metric, sample.repetitions
) as s on true
left join metric as m on m.name = s.metric;

comment on view results is
    'Medians with intervals: a row per run, case, status, phase, metric and repetitions; samples of all'
    ' processes of a case are pooled. Only trials that ended ok count, in depth and noise also '
    'exhausted ones; the others have one row without metric, so that failures show';
