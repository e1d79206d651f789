-- name: add_runs
insert into run (
    id, suite, suite_text, seed, started_at, software_version, host_id, host_clock_noise, host_load_1min, host_warnings
)
select
    md5(r.id || copy)::uuid::text, r.suite, r.suite_text, r.seed, r.started_at - copy * interval '1 hour',
    r.software_version, r.host_id, r.host_clock_noise, r.host_load_1min, r.host_warnings
from run as r
cross join generate_series(%(first)s::integer, %(last)s) as copy
where r.id = %(run_id)s;

-- name: add_trials
insert into trial (
    id, run_id, case_key, build_id, parameter_set_id, process, seed, budget, status, error, max_abs_error, wrong_slots,
    tolerance, precision_bits, started_at, duration_s, facts
)
select
    md5(t.id || copy)::uuid::text, md5(t.run_id || copy)::uuid::text, t.case_key, t.build_id, t.parameter_set_id,
    t.process, t.seed, t.budget, t.status, t.error, t.max_abs_error, t.wrong_slots, t.tolerance, t.precision_bits,
    t.started_at, t.duration_s, t.facts
from trial as t
cross join generate_series(%(first)s::integer, %(last)s) as copy
where t.run_id = %(run_id)s;

-- name: add_series
insert into series (trial_id, stage, party, step, metric)
select md5(s.trial_id || copy)::uuid::text, s.stage, s.party, s.step, s.metric
from generate_series(%(first)s::integer, %(last)s) as copy
cross join trial as t
join series as s on s.trial_id = t.id
where t.run_id = %(run_id)s;

-- name: add_samples
-- Times are taken again and again, each a little different; other metrics as they are.
insert into sample (series_id, value, loops, ordinal, repetitions, is_warmup)
select
    added.id,
    case when s.metric = 'time' then x.value * (0.99 + 0.02 * random()) else x.value end,
    x.loops, x.ordinal + 1000 * again, x.repetitions, x.is_warmup
from generate_series(%(first)s::integer, %(last)s) as copy
cross join trial as t
join series as s on s.trial_id = t.id
join series as added
    on added.trial_id = md5(s.trial_id || copy)::uuid::text
    and (added.stage, added.metric) = (s.stage, s.metric)
    and added.party is not distinct from s.party
    and added.step is not distinct from s.step
join sample as x on x.series_id = s.id
cross join lateral generate_series(
    1, case when s.metric = 'time' and not x.is_warmup then %(again)s::integer else 1 end
) as again
where t.run_id = %(run_id)s;

-- name: count_times
select count(*)
from samples
where run_id = %(run_id)s and metric = 'time' and not is_warmup;

-- name: analyze
analyze series, sample, trial, run;
