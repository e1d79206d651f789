select
    variant,
    phase,
    process,
    ordinal,
    value,
    slow_down,
    loops,
    is_warmup,
    is_disturbed
from samples
where run_id = %(run_id)s and comparison_key = %(comparison_key)s and metric = 'time'
order by variant, phase, process, is_warmup desc, ordinal;
