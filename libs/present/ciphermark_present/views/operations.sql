-- Who composes an operation is not known of runs that were recorded before it was: then nobody is said to.
select
    i.run_id,
    i.scheme,
    i.experiment,
    i.operation,
    array_agg(distinct i.variant order by i.variant) filter (where i.status <> 'unsupported') as tried_by,
    array_agg(distinct i.variant order by i.variant)
        filter (where i.status <> 'unsupported' and f.is_composite) as composite_in,
    array_agg(distinct i.variant order by i.variant) filter (where i.status = 'unsupported') as unsupported_by
from case_info as i
join case_facts as f on f.case_info_id = i.case_info_id
group by i.run_id, i.scheme, i.experiment, i.operation
