-- Two cases that were asked for in the same words but for the data, whatever the words of a case are. They have no pairs
-- of samples: their medians are compared.
select
    r.*,
    s.median as constant_s,
    s.ci_low as constant_low,
    s.ci_high as constant_high,
    s.n as constant_n,
    r.median as random_s,
    r.ci_low as random_low,
    r.ci_high as random_high
from results as r
join case_request as c on c.key = r.case_key
join results as s
    on s.run_id = r.run_id
    and s.data_pattern = 'constant'
    and s.metric = 'time'
    and s.phase = r.phase
    and s.variant = r.variant
    and s.operation = r.operation
    and s.parameter_set_id is not distinct from r.parameter_set_id
    and s.repetitions is not distinct from r.repetitions
join case_request as d on d.key = s.case_key and d.request - 'data_pattern' = c.request - 'data_pattern'
where r.metric = 'time' and r.data_pattern = 'random'
