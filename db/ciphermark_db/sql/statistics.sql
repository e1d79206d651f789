-- name: groups
-- Cases of the given comparison groups of a run, in the order of their recording.
select
    i.case_info_id as id, i.comparison_group, i.variant, i.status, i.library, i.hexl, i.is_reference,
    i.security_compared, i.security_compared_2024, i.security_table, i.encryption,
    coalesce(e.is_until_exhausted, false) as is_until_exhausted
from case_info as i
left join experiment as e on e.name = i.experiment
where i.run_id = %(run_id)s and i.comparison_group = any (%(comparison_groups)s)
order by i.case_info_id;

-- name: trials
select
    t.id, t.case_info_id, t.process, t.started_at, t.duration_s, t.facts, t.error,
    t.budget ->> 'max_ci_half_width' is not null as is_sequential
from case_info as i
join trial as t on t.case_info_id = i.case_info_id
where i.run_id = %(run_id)s and i.comparison_group = any (%(comparison_groups)s)
order by t.sequence;

-- name: series
select s.id, s.trial_id, s.stage, s.party, s.step, s.metric, m.unit
from series as s
join metric as m on m.name = s.metric
where s.trial_id = any (%(trials)s)
order by s.id;

-- name: copy_samples
-- -1 means no repetitions: rows of equal length can be read as one array.
copy (
    select
        series_id, value, slowdown, ordinal, coalesce(repetitions, -1) as repetitions, is_warmup, is_disturbed
    from sample
    where series_id = any (%(series)s)
) to stdout (format binary);

-- name: forget
with facts as (delete from case_facts where case_info_id = any (%(groups)s)),
results as (delete from result where case_info_id = any (%(groups)s))
delete from ratio where case_info_id = any (%(groups)s);

-- name: copy_case_facts
copy case_facts ({{columns}}) from stdin;

-- name: copy_result
copy result ({{columns}}) from stdin;

-- name: copy_ratio
copy ratio ({{columns}}) from stdin;

-- name: copy_host_state
copy host_state ({{columns}}) from stdin;

-- name: outdated
-- The runs with trials whose statistics come from an older method or are missing.
select distinct i.run_id
from case_info as i
left join case_facts as f on f.case_info_id = i.case_info_id
where coalesce(f.method, 0) < %(method)s
order by i.run_id;

-- name: comparison_groups
select comparison_group
from case_info
where run_id = %(run_id)s
group by comparison_group
order by min(case_info_id);

-- name: timed_trials
select t.process, t.started_at, t.duration_s, t.facts, t.error
from trial as t
where
    t.run_id = %(run_id)s
    and t.status = 'ok'
    and exists (select from series as s where s.trial_id = t.id and s.metric = 'time');

-- name: forget_host_state
delete from host_state where run_id = %(run_id)s;
