create view depths as
select
    i.*,
    (i.dimensions ->> 'max_repetitions')::integer as max_repetitions,
    d.min::integer as depth,
    c.min <> 0 as is_at_max_repetitions,
    f.error
from case_info as i
join experiment as e on e.name = i.experiment and e.determines = 'depth'
left join case_facts as f on f.case_info_id = i.case_info_id
left join result as d on d.case_info_id = i.case_info_id and d.metric = 'depth'
left join result as c on c.case_info_id = i.case_info_id and c.metric = 'is_at_max_repetitions';

comment on view depths is
    'Maximum number of consecutive operations that a parameter set supports: a row per run, case and status of the '
    'depth experiment';
