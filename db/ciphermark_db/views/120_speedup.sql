-- Views that compare times pair by pair: samples that two variants took in the same turn, which is the same process
-- number and ordinal. Both sides are read in one pass and paired by grouping: no plan can make that quadratic.

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
    off_case.comparison_key,
    p.security_2024
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
    left join parameter_set as off_set on off_set.id = off_trial.parameter_set_id
    left join parameter_set as on_set on on_set.id = on_trial.parameter_set_id
    where
        off_trial.status = 'ok'
        and off_set.security_2018 is not distinct from on_set.security_2018
        and off_trial.facts @> '{"is_composed": 1}' = on_trial.facts @> '{"is_composed": 1}'
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
            phase_of(s.stage, s.party, s.step) as phase,
            x.repetitions,
            max(x.value) filter (where s.trial_id = any (g.off_trial_ids)) as off_s,
            max(x.value) filter (where s.trial_id = any (g.on_trial_ids)) as on_s
        from series as s
        join sample as x on x.series_id = s.id and x.series_id = any (array(
            select id from series where trial_id = any (g.off_trial_ids || g.on_trial_ids)
        ))
        join trial as t on t.id = s.trial_id
        where
            s.trial_id = any (g.off_trial_ids || g.on_trial_ids) and s.metric = 'time' and not x.is_warmup
        group by t.process, s.stage, s.party, s.step, x.repetitions, x.ordinal
    ) as pair
    where off_s is not null and on_s > 0
    group by phase, repetitions
) as pairs;

comment on view speedup is
    'What HEXL brings: time without HEXL / time with it, sample by sample, for two builds of one '
    'library at one security level (2018) in one run';
comment on column speedup.library is 'Library of both variants';
comment on column speedup.n is 'Number of pairs: samples of the same process number and ordinal';
comment on column speedup.ci_low is 'Lower bound of the ratio''s 95 % interval; NULL for fewer than 6 pairs';
comment on column speedup.ci_high is 'Upper bound of the ratio''s 95 % interval; NULL for fewer than 6 pairs';
