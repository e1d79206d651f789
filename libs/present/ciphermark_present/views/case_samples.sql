select
    c.variant,
    phase_of(s.stage, s.party, s.step) as phase,
    t.process,
    x.ordinal,
    x.value / x.slow_down as corrected,
    x.value,
    x.slow_down,
    x.loops,
    x.is_warmup,
    x.is_disturbed
from trial as t
join case_ as c on c.key = t.case_key
join series as s on s.trial_id = t.id
join sample as x on x.series_id = s.id
where t.run_id = %(run_id)s and c.comparison_key = %(comparison_key)s and s.metric = 'time'
order by c.variant, phase, t.process, x.is_warmup desc, x.ordinal;
