-- The views ranking and ranking_any_security. Trials that took turns overlap in time: their samples pair up. Those of a
-- run that was resumed in between, or too large to be alive together, do not: their medians are divided. In the division
-- best the level is the one that was asked for: what a library has beyond it, it was not asked for.
create function ratios(any_security boolean) returns table (
    run_id text,
    variant text,
    fastest_variant text,
    scheme text,
    ring_dimension integer,
    log_qp double precision,
    security_2018 integer,
    is_equal_security boolean,
    is_equal_parameters boolean,
    experiment text,
    operation text,
    phase text,
    size bigint,
    data_pattern text,
    threads integer,
    repetitions integer,
    rank bigint,
    median_s double precision,
    n integer,
    ratio double precision,
    ci_low double precision,
    ci_high double precision,
    verdict text,
    comparison_key text,
    is_paired boolean,
    security_2024 integer,
    fastest_ring_dimension integer,
    fastest_log_qp double precision,
    fastest_security_2018 integer,
    chain_depth integer,
    ring_dimension_is_minimum boolean,
    data_set text,
    case_key text,
    is_composed boolean,
    modulus_bits integer[],
    plain_modulus numeric,
    scale double precision,
    security_bits integer,
    dimensions jsonb,
    parameter_set_id text,
    division text,
    quiet_share double precision,
    security_compared integer,
    key_switching text,
    digits integer,
    special_primes integer,
    scaling text,
    secret_distribution text,
    encryption text,
    fastest_key_switching text,
    fastest_digits integer
)
language sql stable parallel safe
begin atomic
select
    ranked.run_id,
    ranked.variant,
    ranked.fastest_variant,
    ranked.scheme,
    ranked.ring_dimension,
    ranked.log_qp,
    ranked.security_2018,
    ranked.security_2018 = ranked.fastest_security_2018,
    ranked.ring_dimension = ranked.fastest_ring_dimension
    and abs(ranked.log_qp - ranked.fastest_log_qp) <= 1,
    ranked.experiment,
    ranked.operation,
    ranked.phase,
    ranked.size,
    ranked.data_pattern,
    ranked.threads,
    ranked.repetitions,
    ranked.rank,
    median_of(ranked.sorted),
    case
        when pairs.sorted is not null then cardinality(pairs.sorted)
        else least(cardinality(ranked.sorted), cardinality(ranked.fastest_sorted))
    end,
    figures.ratio,
    figures.low,
    figures.high,
    verdict(1 / figures.high, 1 / figures.low),
    ranked.comparison_key,
    pairs.sorted is not null,
    ranked.security_2024,
    ranked.fastest_ring_dimension,
    ranked.fastest_log_qp,
    ranked.fastest_security_2018,
    ranked.chain_depth,
    ranked.ring_dimension_is_minimum,
    ranked.data_set,
    ranked.case_key,
    ranked.is_composed,
    ranked.modulus_bits,
    ranked.plain_modulus,
    ranked.scale,
    ranked.security_bits,
    ranked.dimensions,
    ranked.parameter_set_id,
    ranked.division,
    case when ranked.is_watched then pairs.quiet_share end,
    ranked.security_compared,
    ranked.key_switching,
    ranked.digits,
    ranked.special_primes,
    ranked.scaling,
    ranked.secret_distribution,
    ranked.encryption,
    ranked.fastest_key_switching,
    ranked.fastest_digits
from (
    select
        timed.*,
        rank() over fastest_first as rank,
        first_value(timed.variant) over fastest_first as fastest_variant,
        first_value(timed.trial_ids) over fastest_first as fastest_trial_ids,
        first_value(timed.sorted) over fastest_first as fastest_sorted,
        first_value(timed.is_disturbed) over fastest_first as fastest_is_disturbed,
        first_value(timed.slow_down) over fastest_first as fastest_slow_down,
        first_value(timed.library) over fastest_first as fastest_library,
        first_value(timed.hexl) over fastest_first as fastest_hexl,
        first_value(timed.security_2018) over fastest_first as fastest_security_2018,
        first_value(timed.ring_dimension) over fastest_first as fastest_ring_dimension,
        first_value(timed.log_qp) over fastest_first as fastest_log_qp,
        first_value(timed.key_switching) over fastest_first as fastest_key_switching,
        first_value(timed.digits) over fastest_first as fastest_digits
    from (
        select
            g.*,
            s.phase,
            s.repetitions as sample_repetitions,
            coalesce(s.repetitions, (g.dimensions ->> 'repetitions')::integer) as repetitions,
            g.dimensions ->> 'data_set' as data_set,
            s.sorted,
            s.is_disturbed,
            s.slow_down
        from trial_group as g
        cross join lateral (
            select
                phase_of(place.stage, place.party, place.step) as phase,
                pooled.repetitions,
                pooled.sorted,
                pooled.is_disturbed,
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
                    bool_and(sample.is_disturbed) as is_disturbed,
                    exp(avg(ln(sample.slow_down)) filter (where not sample.is_disturbed)) as slow_down
                from (
                    select id, min(id) over (partition by stage, party, step) as place_id
                    from series
                    where trial_id = any (g.trial_ids) and metric = 'time'
                ) as placed
                join sample on sample.series_id = placed.id and sample.series_id = any (array(
                    select id from series where trial_id = any (g.trial_ids) and metric = 'time'
                ))
                where not sample.is_warmup
                group by placed.place_id, sample.repetitions
            ) as pooled
            join series as place on place.id = pooled.place_id
        ) as s
        where g.status = 'ok' and g.is_reference is not true
    ) as timed
    window fastest_first as (
        partition by
            timed.run_id,
            timed.comparison_key,
            timed.phase,
            timed.sample_repetitions,
            timed.is_composed,
            case when not any_security then timed.security_compared end
        order by median_of(timed.sorted), timed.variant
    )
) as ranked
cross join lateral (
    select
        coalesce(
            array_agg(pair.own_s / pair.fastest_s order by pair.own_s / pair.fastest_s) filter (
                where not pair.is_disturbed
            ),
            array_agg(pair.own_s / pair.fastest_s order by pair.own_s / pair.fastest_s) filter (
                where ranked.is_disturbed or ranked.fastest_is_disturbed
            )
        ) as sorted,
        count(*) filter (where is_quiet(pair.is_disturbed, pair.slow_down))::float8 / nullif(count(*), 0) as quiet_share
    from (
        select
            max(x.value / x.slow_down) filter (where s.trial_id = any (ranked.trial_ids)) as own_s,
            max(x.value / x.slow_down) filter (where s.trial_id = any (ranked.fastest_trial_ids)) as fastest_s,
            bool_or(x.is_disturbed) as is_disturbed,
            max(x.slow_down) as slow_down,
            max(t.started_at) <= min(t.started_at + t.duration_s * interval '1 second') as is_one_turn
        from series as s
        join sample as x on x.series_id = s.id and x.series_id = any (array(
            select id from series where trial_id = any (ranked.trial_ids || ranked.fastest_trial_ids)
        ))
        join trial as t on t.id = s.trial_id
        where
            s.trial_id = any (ranked.trial_ids || ranked.fastest_trial_ids)
            and phase_of(s.stage, s.party, s.step) = ranked.phase
            and x.repetitions is not distinct from ranked.sample_repetitions
            and s.metric = 'time'
            and not x.is_warmup
        group by t.process, x.ordinal
    ) as pair
    where pair.own_s is not null and pair.fastest_s > 0 and pair.is_one_turn
) as pairs
-- What slows a build slows another one of its library as much, so that in one round it cancels. Other code has another exponent.
cross join lateral (
    select
        case
            when ranked.rank = 1 and ranked.variant = ranked.fastest_variant then 1
            when pairs.sorted is not null
                and ranked.library = ranked.fastest_library
                and ranked.hexl is not distinct from ranked.fastest_hexl then 1
            else widening(ranked.slow_down, ranked.fastest_slow_down)
        end as widening
) as errors
cross join lateral (
    select
        coalesce(
            median_of(pairs.sorted), median_of(ranked.sorted) / nullif(median_of(ranked.fastest_sorted), 0)
        ) as ratio,
        case
            when pairs.sorted is not null then interval_low(pairs.sorted, ranked.is_sequential)
            else interval_low(ranked.sorted, ranked.is_sequential) / nullif(interval_high(ranked.fastest_sorted, ranked.is_sequential), 0)
        end / errors.widening as low,
        case
            when pairs.sorted is not null then interval_high(pairs.sorted, ranked.is_sequential)
            else interval_high(ranked.sorted, ranked.is_sequential) / nullif(interval_low(ranked.fastest_sorted, ranked.is_sequential), 0)
        end * errors.widening as high
) as figures;
end;

comment on function ratios(boolean) is
    'Internal: the rows of ranking, or with any_security those of ranking_any_security';
