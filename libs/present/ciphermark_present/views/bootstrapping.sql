select
    i.*,
    b.*,
    b.median / nullif(i.slots * b.levels_after, 0) as amortized_s
from case_info as i
join lateral (
    select
        max(r.median) filter (where r.is_time) as median,
        max(r.ci_low) filter (where r.is_time) as ci_low,
        max(r.ci_high) filter (where r.is_time) as ci_high,
        max(r.n) filter (where r.is_time) as n,
        max(r.median) filter (where r.metric = 'time' and r.stage = 'keygen') as keygen_s,
        max(r.median) filter (where r.metric = 'levels' and r.stage = 'encrypt')::integer as levels_before,
        max(r.median) filter (where r.metric = 'levels' and r.stage = 'evaluate')::integer as levels_after,
        max(r.median) filter (where r.metric = 'mean_precision' and r.stage = 'encrypt') as precision_before,
        max(r.median) filter (where r.metric = 'mean_precision' and r.stage = 'evaluate') as precision_after,
        max(r.median) filter (where r.metric = 'precision') as min_precision,
        max(r.median) filter (where r.metric = 'failure_bits') as failure_bits,
        max(r.median) filter (where r.metric = 'size') as key_bytes,
        max(r.median) filter (where r.metric = 'peak_memory') as peak_bytes,
        case when bool_or(r.is_time and r.undisturbed_share = 0 and r.slowdown is null)
            then array['median', 'amortized_s'] end as disturbed_times
    from (
        select *, metric = 'time' and stage = 'evaluate' as is_time
        from result
        where case_info_id = i.case_info_id
    ) as r
) as b on b.median is not null
