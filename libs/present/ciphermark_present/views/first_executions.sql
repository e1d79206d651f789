select
    *,
    first_touch_s / nullif(warm_s, 0) as first_touch_ratio,
    cold_s / nullif(warm_s, 0) as cold_ratio
from (
    select
        *,
        case when is_composite then operation || ' (composite)' else operation end as label,
        median as first_touch_s,
        max(median) filter (where metric = 'cold_time') over same_case as cold_s,
        max(n) filter (where metric = 'cold_time') over same_case as cold_n,
        max(median) filter (where metric = 'time') over same_case as warm_s
    from results
    where phase = 'evaluate' and metric in ('cold_time', 'first_touch_time', 'time')
    window same_case as (partition by run_id, case_key, status, parameter_set_id)
) as r
where metric = 'first_touch_time'
