-- Copies of a run, number first to last. Ids of its rows are numbers: of a copy they are greater by a multiple of stride.

-- name: add_runs
insert into run
select added.*
from run as r
cross join generate_series(%(first)s::integer, %(last)s) as copy
cross join lateral jsonb_populate_record(
    r,
    jsonb_build_object(
        'id', md5(r.id || copy)::uuid, 'label', null, 'started_at', r.started_at - copy * interval '1 hour'
    )
) as added
where r.id = %(run_id)s;

-- name: add_cases
insert into case_info overriding system value
select added.*
from case_info as i
cross join generate_series(%(first)s::integer, %(last)s) as copy
cross join lateral jsonb_populate_record(
    i,
    jsonb_build_object('case_info_id', i.case_info_id + copy * %(stride)s::bigint, 'run_id', md5(i.run_id || copy)::uuid)
) as added
where i.run_id = %(run_id)s;

-- name: add_trials
insert into trial overriding system value
select added.*
from trial as t
cross join generate_series(%(first)s::integer, %(last)s) as copy
cross join lateral jsonb_populate_record(
    t,
    jsonb_build_object(
        'id', md5(t.id || copy)::uuid,
        'run_id', md5(t.run_id || copy)::uuid,
        'case_info_id', t.case_info_id + copy * %(stride)s::bigint,
        'sequence', t.sequence + copy * %(stride)s::bigint
    )
) as added
where t.run_id = %(run_id)s;

-- name: add_series
insert into series overriding system value
select s.id + copy * %(stride)s::bigint, md5(s.trial_id || copy)::uuid, s.stage, s.party, s.step, s.metric
from generate_series(%(first)s::integer, %(last)s) as copy
cross join trial as t
join series as s on s.trial_id = t.id
where t.run_id = %(run_id)s;

-- name: add_samples
-- Times are taken again and again, each a little different; other metrics as they are.
insert into sample (series_id, value, loops, ordinal, repetitions, is_warmup)
select
    s.id + copy * %(stride)s::bigint,
    case when s.metric = 'time' then x.value * (0.99 + 0.02 * random()) else x.value end,
    x.loops,
    x.ordinal + 1000 * again,
    x.repetitions,
    x.is_warmup
from generate_series(%(first)s::integer, %(last)s) as copy
cross join trial as t
join series as s on s.trial_id = t.id
join sample as x on x.series_id = s.id
cross join lateral generate_series(
    1, case when s.metric = 'time' and not x.is_warmup then %(again)s::integer else 1 end
) as again
where t.run_id = %(run_id)s;

-- name: add_case_facts
insert into case_facts
select added.*
from case_info as i
join case_facts as f on f.case_info_id = i.case_info_id
cross join generate_series(%(first)s::integer, %(last)s) as copy
cross join lateral jsonb_populate_record(
    f, jsonb_build_object('case_info_id', i.case_info_id + copy * %(stride)s::bigint)
) as added
where i.run_id = %(run_id)s;

-- name: add_results
insert into result
select added.*
from case_info as i
join result as s on s.case_info_id = i.case_info_id
cross join generate_series(%(first)s::integer, %(last)s) as copy
cross join lateral jsonb_populate_record(
    s, jsonb_build_object('case_info_id', i.case_info_id + copy * %(stride)s::bigint)
) as added
where i.run_id = %(run_id)s;

-- name: add_ratios
insert into ratio
select added.*
from case_info as i
join ratio as r on r.case_info_id = i.case_info_id
cross join generate_series(%(first)s::integer, %(last)s) as copy
cross join lateral jsonb_populate_record(
    r,
    jsonb_build_object(
        'case_info_id', r.case_info_id + copy * %(stride)s::bigint,
        'base', r.base + copy * %(stride)s::bigint,
        'uncorrected_base', r.uncorrected_base + copy * %(stride)s::bigint
    )
) as added
where i.run_id = %(run_id)s;

-- name: add_host_states
insert into host_state
select added.*
from host_state as h
cross join generate_series(%(first)s::integer, %(last)s) as copy
cross join lateral jsonb_populate_record(h, jsonb_build_object('run_id', md5(h.run_id || copy)::uuid)) as added
where h.run_id = %(run_id)s;

-- name: settle
-- What is recorded afterwards gets ids of its own.
select
    setval(pg_get_serial_sequence('case_info', 'case_info_id'), max(case_info_id)),
    setval(pg_get_serial_sequence('trial', 'sequence'), (select max(sequence) from trial)),
    setval(pg_get_serial_sequence('series', 'id'), (select max(id) from series))
from case_info;

-- name: stride
select greatest(
    (select max(case_info_id) from case_info), (select max(sequence) from trial), (select max(id) from series)
);

-- name: count_times
select count(*)
from samples
where run_id = %(run_id)s and metric = 'time' and not is_warmup;
