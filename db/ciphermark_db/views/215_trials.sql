create view trials as
select
    i.*,
    t.id as trial_id,
    t.process,
    t.error,
    t.started_at as executed_at,
    t.duration_s,
    t.max_abs_error,
    t.incorrect_slots,
    t.tolerance,
    t.precision_bits,
    t.facts,
    coalesce(t.facts @> '{"is_composite": 1}', false) as is_composite
from trial as t
join case_info as i on i.case_info_id = t.case_info_id;

comment on view trials is 'Every execution of a case in a worker, with any status: a row per trial';
