-- name: measured_programs
-- The latest time of each program's evaluation by variant: the server's for a workload, that of a call for an operation
-- that bootstraps all slots. Each program has the name of its workload or operation.
select distinct on (program, variant) program, variant, ring_dimension, threads, log_qp, seconds, host
from unnest(%(programs)s::text[], %(operations)s::text[]) as asked (program, operation)
join (
    select operation, variant, ring_dimension, threads, log_qp, server_s as seconds, run_id from whole_costs
    union all
    select operation, variant, ring_dimension, threads, log_qp, median, run_id
    from results
    where metric = 'time' and stage = 'evaluate' and bootstrapping not like '%%slots%%'
) as measured using (operation)
join runs using (run_id)
order by program, variant, sequence desc;
