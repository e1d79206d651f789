select
    *,
    case when is_composite then operation || ' (composite)' else operation end as label,
    array_remove(array[case when undisturbed_share = 0 and slowdown is null then 'median' end], null)
        as disturbed_times
from results
where metric = 'time'
