-- Views that compare times pair by pair: samples that two variants took in the same turn, which is the same process
-- number and ordinal. Both sides are read in one pass and paired by grouping: no plan can make that quadratic.

drop index trial_run;
create index trial_run_case on trial (run_id, case_key);

create view speedup as
select
    g.run_id,
    g.library,
    off_case.variant as variant_off,
    on_case.variant as variant_on,
    off_case.scheme,
    coalesce(p.ring_dimension, off_case.ring_dimension) as ring_dimension,
    p.modulus_bits,
    p.log_qp,
    p.security_2018,
    off_case.experiment,
    off_case.operation,
    pairs.phase,
    off_case.size,
    off_case.data_pattern,
    off_case.threads,
    pairs.repetitions,
    cardinality(pairs.sorted) as n,
    median_of(pairs.sorted) as ratio,
    interval_low(pairs.sorted) as ci_low,
    interval_high(pairs.sorted) as ci_high,
    verdict(interval_low(pairs.sorted), interval_high(pairs.sorted)) as verdict,
    off_case.comparison_key
from (
    select
        off_trial.run_id,
        off_build.library,
        off_trial.parameter_set_id,
        off_trial.case_key as off_case_key,
        on_trial.case_key as on_case_key,
        array_agg(off_trial.id) as off_trial_ids,
        array_agg(on_trial.id) as on_trial_ids
    from trial as off_trial
    join build as off_build on off_build.id = off_trial.build_id and not off_build.hexl
    join case_ as c on c.key = off_trial.case_key
    join case_ as d on d.comparison_key = c.comparison_key
    join trial as on_trial
        on on_trial.run_id = off_trial.run_id
        and on_trial.case_key = d.key
        and on_trial.process = off_trial.process
        and on_trial.status = 'ok'
    join build as on_build
        on on_build.id = on_trial.build_id and on_build.hexl and on_build.library = off_build.library
    where off_trial.status = 'ok'
    group by
        off_trial.run_id, off_build.library, off_trial.parameter_set_id, off_trial.case_key, off_build.id,
        on_trial.case_key, on_build.id
) as g
join case_ as off_case on off_case.key = g.off_case_key
join case_ as on_case on on_case.key = g.on_case_key
left join parameter_set as p on p.id = g.parameter_set_id
cross join lateral (
    select phase, repetitions, array_agg(off_s / on_s order by off_s / on_s) as sorted
    from (
        select
            s.phase,
            s.repetitions,
            max(s.value) filter (where s.trial_id = any (g.off_trial_ids)) as off_s,
            max(s.value) filter (where s.trial_id = any (g.on_trial_ids)) as on_s
        from sample as s
        join trial as t on t.id = s.trial_id
        where
            s.trial_id = any (g.off_trial_ids || g.on_trial_ids) and s.metric = 'time' and not s.is_warmup
        group by t.process, s.phase, s.repetitions, s.ordinal
    ) as pair
    where off_s is not null and on_s > 0
    group by phase, repetitions
) as pairs;

create view ratio as
select
    ranked.run_id,
    ranked.variant,
    ranked.fastest_variant,
    ranked.scheme,
    ranked.ring_dimension,
    ranked.log_qp,
    ranked.security_2018,
    ranked.security_2018 = ranked.fastest_security_2018 as is_equal_security,
    ranked.ring_dimension = ranked.fastest_ring_dimension
    and abs(ranked.log_qp - ranked.fastest_log_qp) <= 1 as is_equal_parameters,
    ranked.experiment,
    ranked.operation,
    ranked.phase,
    ranked.size,
    ranked.data_pattern,
    ranked.threads,
    ranked.repetitions,
    ranked.rank,
    ranked.median_s,
    cardinality(pairs.sorted) as n,
    median_of(pairs.sorted) as ratio,
    interval_low(pairs.sorted) as ci_low,
    interval_high(pairs.sorted) as ci_high,
    verdict(1 / interval_high(pairs.sorted), 1 / interval_low(pairs.sorted)) as verdict,
    ranked.comparison_key
from (
    select
        timed.*,
        rank() over fastest_first as rank,
        first_value(timed.variant) over fastest_first as fastest_variant,
        first_value(timed.trial_ids) over fastest_first as fastest_trial_ids,
        first_value(timed.security_2018) over fastest_first as fastest_security_2018,
        first_value(timed.ring_dimension) over fastest_first as fastest_ring_dimension,
        first_value(timed.log_qp) over fastest_first as fastest_log_qp
    from (
        select
            g.run_id,
            c.comparison_key,
            c.variant,
            c.scheme,
            coalesce(p.ring_dimension, c.ring_dimension) as ring_dimension,
            p.log_qp,
            p.security_2018,
            c.experiment,
            c.operation,
            s.phase,
            c.size,
            c.data_pattern,
            c.threads,
            s.repetitions,
            s.median_s,
            g.trial_ids
        from trial_group as g
        join case_ as c on c.key = g.case_key
        left join build as b on b.id = g.build_id
        left join parameter_set as p on p.id = g.parameter_set_id
        cross join lateral (
            select phase, repetitions, median_of(array_agg(value order by value)) as median_s
            from sample
            where trial_id = any (g.trial_ids) and metric = 'time' and not is_warmup
            group by phase, repetitions
        ) as s
        where g.status = 'ok' and b.is_reference is not true
    ) as timed
    window fastest_first as (
        partition by timed.run_id, timed.comparison_key, timed.phase, timed.repetitions
        order by timed.median_s, timed.variant
    )
) as ranked
cross join lateral (
    select array_agg(own_s / fastest_s order by own_s / fastest_s) as sorted
    from (
        select
            max(s.value) filter (where s.trial_id = any (ranked.trial_ids)) as own_s,
            max(s.value) filter (where s.trial_id = any (ranked.fastest_trial_ids)) as fastest_s
        from sample as s
        join trial as t on t.id = s.trial_id
        where
            s.trial_id = any (ranked.trial_ids || ranked.fastest_trial_ids)
            and s.phase = ranked.phase
            and s.repetitions is not distinct from ranked.repetitions
            and s.metric = 'time'
            and not s.is_warmup
        group by t.process, s.ordinal
    ) as pair
    where own_s is not null and fastest_s > 0
) as pairs;
