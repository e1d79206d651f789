-- name: run_ids
select id from run order by started_at, id;

-- name: recorded_trials
select t.id
from trial as t
join run as r on r.id = t.run_id
where r.id = %(run_id)s or r.continues = %(run_id)s;

-- name: settle
-- Without just-in-time compilation: for the views it takes ten times as long as the query itself.
select set_config('statement_timeout', %(milliseconds)s, true), set_config('jit', 'off', true);

-- name: begin
begin;

-- name: begin_read_only
begin read only;
