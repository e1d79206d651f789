select
    *,
    options_of(dimensions) as options,
    split_part(phase, '.', 2) as part,
    array_remove(array[case when unit = 's' and undisturbed_share = 0 and slowdown is null then 'median' end], null)
        as disturbed_times
from results
