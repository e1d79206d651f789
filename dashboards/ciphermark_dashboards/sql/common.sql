-- name: runs
-- A page of runs, the latest first, without reference runs; only their trials are counted.
select r.run_id, r.label, r.suite, r.started_at, r.is_imported, r.continues, r.host, r.cpu_model, counted.*
from (
    select *
    from runs
    where not is_shipped
    order by sequence desc
    limit %(limit)s offset %(offset)s
) as r
cross join lateral (
    select
        count(*) as trials,
        count(*) filter (where status = 'ok') as ok,
        count(*) filter (where status = 'unsupported') as unsupported,
        count(*) filter (where status not in ('ok', 'unsupported')) as other,
        (select count(*) from refusal as x where x.run_id = r.run_id) as refused
    from trial
    where run_id = r.run_id
) as counted
order by r.sequence desc;

-- name: open_runs
-- A page of the service's waiting and executing runs, the latest first.
select
    j.id as run_id,
    j.suite,
    j.state,
    j.hostname as host,
    j.submitted_at,
    case when j.state = 'running' then r.progress ->> 'words' end as progress
from job as j
left join run as r on r.id = j.id
where j.ended_at is null
order by j.sequence desc, j.submitted_at desc, j.id
limit %(limit)s offset %(offset)s;

-- name: run_choices
-- The latest 1,000 runs, those measured here first, then the reference runs.
select run_id, suite, label, is_imported, is_shipped, started_at, host, host_id
from (
    select *
    from runs
    where not is_shipped
    order by is_imported, sequence desc
    limit 1000
) as r
union all
select run_id, suite, label, is_imported, is_shipped, started_at, host, host_id
from (
    select *
    from runs
    where is_shipped
    order by sequence desc
) as r;

-- name: run_named
-- The run that a text refers to; two rows where the text is ambiguous. ``recorded`` changes when more is recorded.
select
    r.run_id,
    r.suite,
    r.label,
    r.is_imported,
    r.is_shipped,
    r.started_at,
    r.host,
    r.host_id,
    r.cpu_model,
    r.cores,
    (select count(*) || ' ' || coalesce(max(t.sequence), 0) from trial as t where t.run_id = r.run_id) as recorded
from runs as r
where r.run_id in (select runs_named(%(asked)s::text));

-- name: run_facts
select
    r.id as run_id,
    r.suite,
    r.suite_text,
    r.seed,
    r.started_at,
    r.software_version,
    r.host_clock_noise,
    r.host_load_1min,
    r.host_warnings,
    h.*
from run as r
join host as h on h.id = r.host_id
where r.id = %(run_id)s;

-- name: host_state
-- The host state of a run and of its parts on other hosts.
select *
from host_states
where run_id = %(run_id)s or continues = %(run_id)s
order by started_at, run_id;

-- name: parts
-- A run of the service may have continued on another host: each part there is a separate run.
select
    r.id as run_id,
    h.hostname as host,
    count(t.id) as trials
from run as r
join host as h on h.id = r.host_id
left join trial as t on t.run_id = r.id
where r.id = %(run_id)s or r.continues = %(run_id)s
group by r.id, h.id
order by r.sequence;

-- name: choices
-- security_first: the levels from which pages take their default, where there are any: those of matched tuning.
select distinct
    {filters},
    security_table,
    case tuning when 'matched' then security_2018 end as security_first,
    case tuning when 'matched' then security_2024 end as security_first_2024
from case_info
where run_id = %(run_id)s;

-- name: outcomes
select
    t.status,
    i.variant,
    count(*) as trials
from trial as t
join case_info as i on i.case_info_id = t.case_info_id
where t.run_id = any (%(parts)s)
group by t.status, i.variant
order by i.variant, t.status;

-- name: failures
-- The trials of each variant that ended for one reason, with the first of their cases; failures before missing support.
-- Texts are cut: a library's message may have megabytes. The view ``results`` has the whole text.
select
    i.variant,
    i.status,
    array_agg(distinct i.scheme) as schemes,
    array_agg(distinct i.ring_dimension) as ring_dimensions,
    array_agg(distinct i.experiment) as experiments,
    array_agg(distinct i.operation) as operations,
    left(t.error, 2000) as error,
    coalesce(length(t.error), 0) as error_characters,
    count(*) as trials,
    count(*) over () as kinds,
    (array_agg(i.run_id order by i.run_id, i.comparison_group))[1] as run_id,
    (array_agg(i.comparison_group order by i.run_id, i.comparison_group))[1] as comparison_group
from trial as t
join case_info as i on i.case_info_id = t.case_info_id
where t.run_id = any (%(parts)s) and i.status <> 'ok'
group by i.variant, i.status, t.error
order by i.status = 'unsupported', trials desc, i.variant, i.status, t.error
limit 500;

-- name: refusals
select reason, count(*) as trials
from refusal
where run_id = any (%(parts)s)
group by reason
order by trials desc, reason
limit 20;

-- name: builds
select distinct
    i.variant,
    i.library,
    i.library_version as version,
    i.hexl,
    i.is_debug,
    b.facts
from case_info as i
join build as b on b.id = i.build_id
where i.run_id = any (%(parts)s)
order by i.variant;
