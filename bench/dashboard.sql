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

-- name: add_samples
-- Times are taken again and again, each a little different; other metrics as they are.
insert into sample (trial_id, phase, metric, unit, value, loops, ordinal, repetitions, is_warmup)
select
    md5(s.trial_id || copy)::uuid::text, s.phase, s.metric, s.unit,
    case when s.metric = 'time' then s.value * (0.99 + 0.02 * random()) else s.value end,
    s.loops, s.ordinal + 1000 * again, s.repetitions, s.is_warmup
from generate_series(%(first)s::integer, %(last)s) as copy
cross join trial as t
join sample as s on s.trial_id = t.id
cross join lateral generate_series(
    1, case when s.metric = 'time' and not s.is_warmup then %(again)s::integer else 1 end
) as again
where t.run_id = %(run_id)s;

-- name: count_times
select count(*)
from sample as s
join trial as t on t.id = s.trial_id
where t.run_id = %(run_id)s and s.metric = 'time' and not s.is_warmup;

-- name: analyze
analyze sample, trial, run;
