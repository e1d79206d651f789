select
    variant,
    phase,
    process,
    ordinal,
    value,
    slowdown,
    loops,
    is_warmup,
    is_disturbed
from samples
where run_id = %(run_id)s and comparison_group = %(comparison_group)s and metric = 'time'
order by variant, phase, process, is_warmup desc, ordinal;
