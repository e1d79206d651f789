-- Copies of a run, number first to last. Ids of its rows are numbers: of a copy they are greater by a multiple of stride.

-- name: copy_rows
-- Rows of a table that belong to the run: {rows}, whose columns are as they are, but for those of {own}.
insert into {table} overriding system value
select added.*
from {table} as x
cross join generate_series(%(first)s::integer, %(last)s) as copy
cross join lateral jsonb_populate_record(x, jsonb_build_object({own})) as added
where {rows};

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

-- name: settle
-- What is recorded afterwards gets ids of its own.
select
    setval(pg_get_serial_sequence('case_info', 'case_info_id'), max(case_info_id)),
    setval(pg_get_serial_sequence('run', 'sequence'), (select max(sequence) from run)),
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
