-- Who composes an operation is not known of runs that were recorded before it was: then nobody is said to.
select
    t.run_id,
    c.scheme,
    c.experiment,
    c.operation,
    array_agg(distinct c.variant order by c.variant) filter (where t.status <> 'unsupported') as tried_by,
    array_agg(distinct c.variant order by c.variant)
        filter (where t.status <> 'unsupported' and t.facts @> '{"is_composed": 1}') as composed_by,
    array_agg(distinct c.variant order by c.variant) filter (where t.status = 'unsupported') as unsupported_by
from trial as t
join case_ as c on c.key = t.case_key
group by t.run_id, c.scheme, c.experiment, c.operation
