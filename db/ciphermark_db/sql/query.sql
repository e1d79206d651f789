-- name: run_ids
select id from run order by started_at, id;

-- name: recorded_trials
select id from trial where run_id = %(run_id)s;

-- name: limit_time
select set_config('statement_timeout', %(milliseconds)s, true);

-- name: forbid_writes
set transaction read only;
