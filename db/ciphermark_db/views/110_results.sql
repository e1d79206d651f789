-- Samples of one place (stage, party, step, metric) are pooled by the number of its first series: sorting them by four
-- texts took longer than reading them.
create view results as
select
    g.run_id,
    r.suite,
    r.started_at,
    h.hostname as host,
    h.fingerprint as host_fingerprint,
    g.variant,
    g.library,
    g.library_version,
    g.hexl,
    g.is_debug,
    g.scheme,
    g.ring_dimension,
    g.modulus_bits,
    g.log_q,
    g.log_qp,
    g.security_2018,
    g.security_2024,
    g.experiment,
    g.operation,
    s.phase,
    g.size,
    (g.size + g.slots - 1) / g.slots as ciphertexts,
    g.data_pattern,
    g.threads,
    s.metric,
    m.unit,
    coalesce(s.repetitions, (g.dimensions ->> 'repetitions')::integer) as repetitions,
    cardinality(s.sorted) as n,
    median_of(s.sorted) as median,
    interval_low(s.sorted, g.is_sequential) / widening(s.slow_down, 1) as ci_low,
    interval_high(s.sorted, g.is_sequential) * widening(s.slow_down, 1) as ci_high,
    mad_of(s.sorted) as mad,
    s.sorted[1] as min,
    s.sorted[cardinality(s.sorted)] as max,
    g.status,
    g.error,
    g.comparison_key,
    g.case_key,
    g.chain_depth,
    g.ring_dimension_is_minimum,
    g.dimensions ->> 'data_set' as data_set,
    s.stage,
    s.party,
    s.step,
    g.dimensions,
    m.direction,
    m.floor,
    m.floor_kind,
    g.is_composed,
    g.plain_modulus,
    g.scale,
    g.security_bits,
    g.parameter_set_id,
    g.division,
    case when g.is_watched then s.quiet_share end as quiet_share,
    g.anchor_s,
    g.anchor_spread,
    g.steal_share,
    nullif(g.executed_ciphertexts, (g.size + g.slots - 1) / g.slots) as executed_ciphertexts,
    g.security_compared,
    g.key_switching,
    g.digits,
    g.special_primes,
    g.scaling,
    g.secret_distribution,
    g.encryption,
    case when g.is_watched and m.unit = 's' then s.slow_down end as slow_down
from trial_group as g
join run as r on r.id = g.run_id
join host as h on h.id = r.host_id
left join lateral (
    select
        phase_of(place.stage, place.party, place.step) as phase,
        place.stage,
        place.party,
        place.step,
        place.metric,
        pooled.repetitions,
        pooled.sorted,
        pooled.quiet_share,
        pooled.slow_down
    from (
        select
            placed.place_id,
            sample.repetitions,
            coalesce(
                array_agg(sample.value / sample.slow_down order by sample.value / sample.slow_down) filter (
                    where not sample.is_disturbed
                ),
                array_agg(sample.value order by sample.value)
            ) as sorted,
            count(*) filter (where is_quiet(sample.is_disturbed, sample.slow_down))::float8 / count(*) as quiet_share,
            exp(avg(ln(sample.slow_down)) filter (where not sample.is_disturbed)) as slow_down
        from (
            select id, min(id) over (partition by stage, party, step, metric) as place_id
            from series
            where trial_id = any (g.trial_ids)
        ) as placed
        join sample on sample.series_id = placed.id and sample.series_id = any (array(
            select id from series where trial_id = any (g.trial_ids)
        ))
        where g.is_counted and not sample.is_warmup
        group by placed.place_id, sample.repetitions
    ) as pooled
    -- The offset keeps conditions on the metric out: by them a planner without statistics would read all series there are
    -- for each group of trials.
    cross join lateral (
        select stage, party, step, metric from series where id = pooled.place_id offset 0
    ) as place
) as s on true
left join metric as m on m.name = s.metric;

comment on view results is
    'Medians with intervals: a row per run, case, status, phase, metric and repetitions; samples of all'
    ' processes of a case are pooled. Each time is divided by its slow-down; samples that were disturbed are left out, unless there are no others. Only trials that ended ok count, in depth and noise also '
    'exhausted ones; the others have one row without metric, so that failures show';
