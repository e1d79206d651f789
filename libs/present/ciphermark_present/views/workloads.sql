select
    *,
    options_of(dimensions) as options,
    split_part(phase, '.', 2) as part
from results
