-- Deletes runs with all their rows, in this order; rows that other runs share stay.

-- name: lock
-- Blocks the recording of outcomes, which may refer to rows about to be deleted; readers continue.
lock table run in exclusive mode;

-- name: parts
-- A job that ended before any host began it has no run.
select id from run where id = %(run_id)s or continues = %(run_id)s
union
select id from job where id = %(run_id)s;

-- name: open_job
select id from job where id = any (%(runs)s) and ended_at is null;

-- name: sample
delete from sample
where series_id in (
    select s.id
    from series as s
    join trial as t on t.id = s.trial_id
    where t.run_id = any (%(runs)s)
);

-- name: series
delete from series where trial_id in (select id from trial where run_id = any (%(runs)s));

-- name: trial_layer
delete from trial_layer where trial_id in (select id from trial where run_id = any (%(runs)s));

-- name: trial_program
delete from trial_program where trial_id in (select id from trial where run_id = any (%(runs)s));

-- name: ratio
delete from ratio where case_info_id in (select case_info_id from case_info where run_id = any (%(runs)s));

-- name: result
delete from result where case_info_id in (select case_info_id from case_info where run_id = any (%(runs)s));

-- name: case_facts
delete from case_facts where case_info_id in (select case_info_id from case_info where run_id = any (%(runs)s));

-- name: host_state
delete from host_state where run_id = any (%(runs)s);

-- name: prediction
delete from prediction where case_info_id in (select case_info_id from case_info where run_id = any (%(runs)s));

-- name: prediction_share
delete from prediction_share where case_info_id in (select case_info_id from case_info where run_id = any (%(runs)s));

-- name: refusal
delete from refusal where run_id = any (%(runs)s);

-- name: trial
delete from trial where run_id = any (%(runs)s);

-- name: case_info
delete from case_info where run_id = any (%(runs)s);

-- name: job
delete from job where id = any (%(runs)s);

-- name: run
delete from run where id = any (%(runs)s);

-- name: program
delete from program as p where not exists (select from trial_program as t where t.program = p.digest);

-- name: case_request
delete from case_request as r where not exists (select from case_info as i where i.case_key = r.key);

-- name: build
delete from build as b where not exists (select from case_info as i where i.build_id = b.id);

-- name: parameter_set
delete from parameter_set as p where not exists (select from case_info as i where i.parameter_set_id = p.id);
