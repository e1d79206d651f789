select
    t.run_id,
    c.scheme,
    c.experiment,
    c.operation,
    array_agg(distinct c.variant order by c.variant) filter (where t.status <> 'unsupported' and not k.is_composed) as called_by,
    array_agg(distinct c.variant order by c.variant) filter (where t.status <> 'unsupported' and k.is_composed) as composed_by,
    array_agg(distinct c.variant order by c.variant) filter (where t.status = 'unsupported') as unsupported_by
from trial as t
join case_ as c on c.key = t.case_key
cross join lateral (select t.facts @> '{"is_composed": 1}' as is_composed) as k
group by t.run_id, c.scheme, c.experiment, c.operation
