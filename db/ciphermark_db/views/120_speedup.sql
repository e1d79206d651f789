-- Views that compare times pair by pair: samples that two variants took in the same turn, which is the same process
-- number and ordinal. Both sides are read in one pass and paired by grouping: no plan can make that quadratic.

create view speedup as
select
    g.run_id,
    g.library,
    g.variant as variant_off,
    on_group.variant as variant_on,
    g.scheme,
    g.ring_dimension,
    g.modulus_bits,
    g.log_qp,
    g.security_2018,
    g.experiment,
    g.operation,
    pairs.phase,
    g.size,
    g.data_pattern,
    g.threads,
    pairs.repetitions,
    cardinality(pairs.sorted) as n,
    median_of(pairs.sorted) as ratio,
    interval_low(pairs.sorted, g.is_sequential) / pairs.widening as ci_low,
    interval_high(pairs.sorted, g.is_sequential) * pairs.widening as ci_high,
    verdict(
        interval_low(pairs.sorted, g.is_sequential) / pairs.widening,
        interval_high(pairs.sorted, g.is_sequential) * pairs.widening
    ) as verdict,
    g.comparison_key,
    g.security_2024,
    g.plain_modulus,
    g.scale,
    g.security_bits,
    g.chain_depth,
    g.ring_dimension_is_minimum,
    g.dimensions,
    g.parameter_set_id,
    case when g.is_watched and on_group.is_watched then pairs.quiet_share end as quiet_share,
    g.division,
    g.security_compared,
    g.key_switching,
    g.digits,
    g.special_primes,
    g.scaling,
    g.secret_distribution,
    g.encryption
from trial_group as g
join trial_group as on_group
    on on_group.run_id = g.run_id
    and on_group.comparison_key = g.comparison_key
    and on_group.library = g.library
    and on_group.is_composed = g.is_composed
    and on_group.security_compared is not distinct from g.security_compared
cross join lateral (
    select
        phase,
        repetitions,
        coalesce(
            array_agg(off_s / on_s order by off_s / on_s) filter (where not is_disturbed),
            array_agg(off_s / on_s order by off_s / on_s)
        ) as sorted,
        count(*) filter (where is_quiet(is_disturbed, slow_down))::float8 / count(*) as quiet_share,
        widening(
            exp(avg(ln(slow_down)) filter (where not is_disturbed)), exp(avg(ln(slow_down)) filter (where not is_disturbed))
        ) as widening
    from (
        select
            phase_of(s.stage, s.party, s.step) as phase,
            x.repetitions,
            max(x.value / x.slow_down) filter (where s.trial_id = any (g.trial_ids)) as off_s,
            max(x.value / x.slow_down) filter (where s.trial_id = any (on_group.trial_ids)) as on_s,
            bool_or(x.is_disturbed) as is_disturbed,
            max(x.slow_down) as slow_down
        from series as s
        join sample as x on x.series_id = s.id and x.series_id = any (array(
            select id from series where trial_id = any (g.trial_ids || on_group.trial_ids)
        ))
        join trial as t on t.id = s.trial_id
        where
            s.trial_id = any (g.trial_ids || on_group.trial_ids) and s.metric = 'time' and not x.is_warmup
        group by t.process, s.stage, s.party, s.step, x.repetitions, x.ordinal
    ) as pair
    where off_s is not null and on_s > 0
    group by phase, repetitions
) as pairs
where g.status = 'ok' and not g.hexl and on_group.status = 'ok' and on_group.hexl;

comment on view speedup is
    'What HEXL brings: time without HEXL / time with it, sample by sample, for two builds of one '
    'library at one security level (2018), in the division best at the one asked for, in one run';
