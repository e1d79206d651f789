select
    c.variant,
    s.phase,
    t.process,
    s.ordinal,
    s.value,
    s.loops,
    s.is_warmup
from trial as t
join case_ as c on c.key = t.case_key
join sample as s on s.trial_id = t.id
where t.run_id = %(run_id)s and c.comparison_key = %(comparison_key)s and s.metric = 'time'
order by c.variant, s.phase, t.process, s.is_warmup desc, s.ordinal;
