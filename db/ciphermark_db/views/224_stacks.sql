create view stacks as
select
    i.*,
    t.id as trial_id,
    t.process,
    s.key as stage,
    s.value as call_stacks
from trial as t
join case_info as i on i.case_info_id = t.case_info_id
cross join lateral jsonb_each_text(t.stacks) as s;

comment on view stacks is 'Sampled call stacks of executions that yield no times: a row per trial and stage';
