select
    *,
    options_of(dimensions) as options,
    split_part(phase, '.', 2) as part,
    array_remove(array[case when unit = 's' and quiet_share = 0 and slow_down is null then 'median' end], null)
        as disturbed_times
from results
