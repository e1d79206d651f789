-- name: run_ids
select id from run order by sequence;

-- name: has_had_reference
select exists (select from reference_run where id = %(run_id)s) or exists (select from run where id = %(run_id)s);

-- name: runs_named
select runs_named(%(asked)s::text);

-- name: recorded_trials
select known.id
from (
    select id, run_id
    from trial
    union all
    select trial_id, run_id
    from refusal
) as known
join run as r on r.id = known.run_id
where r.id = %(run_id)s or r.continues = %(run_id)s;

-- name: programs_of_run
select distinct c.operation, c.variant, p.scheme, tp.stage, c.dimensions, p.content, p.digest
from trial_program as tp
join trial as t on t.id = tp.trial_id
join run as r on r.id = t.run_id
join case_info as c on c.case_info_id = t.case_info_id
join program as p on p.digest = tp.program
where r.id = %(run_id)s or r.continues = %(run_id)s
order by c.operation, c.variant, p.scheme, c.dimensions, tp.stage, p.digest;

-- name: settle
-- Disables just-in-time compilation, which takes ten times as long as a query of the views.
select
    set_config('statement_timeout', %(milliseconds)s, true),
    set_config('jit', 'off', true),
    set_config(
        'search_path',
        case when %(is_uncorrected)s then 'uncorrected, public' else current_setting('search_path') end,
        true
    );

-- name: begin
begin;

-- name: begin_read_only
begin read only;
