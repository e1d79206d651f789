-- Trials that are pooled into one figure: the same case, build and parameters in one run, with the same status.
create view trial_group as
select
    t.run_id,
    t.case_key,
    t.status,
    t.build_id,
    t.parameter_set_id,
    t.status = 'ok' or (
        t.status = 'exhausted' and c.experiment in (select name from experiment where is_until_exhausted)
    ) as is_counted,
    bool_or(t.facts @> '{"is_composed": 1}') as is_composed,
    array_agg(t.id) as trial_ids,
    string_agg(distinct t.error, E'\n') filter (where t.error is not null) as error
from trial as t
join case_ as c on c.key = t.case_key
group by t.run_id, t.case_key, t.status, t.build_id, t.parameter_set_id, c.experiment;

comment on view trial_group is
    'Internal: trials pooled into one figure; is_counted tells whether their samples may be shown';
