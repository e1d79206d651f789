-- name: measured_programs
-- The latest time of the server for each workload with the name of a program, and of a packed bootstrap, by variant.
select distinct on (program, variant) program, variant, ring_dimension, threads, log_qp, seconds, host
from (
    select c.operation as program, c.variant, c.ring_dimension, c.threads, c.log_qp, c.server_s as seconds, c.run_id
    from whole_costs as c
    where c.operation = any(%(programs)s)
    union all
    select 'packed-bootstrap', r.variant, r.ring_dimension, r.threads, r.log_qp, r.median, r.run_id
    from results as r
    where r.operation = 'bootstrap' and r.metric = 'time' and r.stage = 'evaluate' and r.bootstrapping not like '%%slots%%'
) as measured
join runs using (run_id)
order by program, variant, sequence desc;
