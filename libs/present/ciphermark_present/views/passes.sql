-- A pass of a workload without its one-time stage: the work of both parties, and the bytes between them.
select
    i.*,
    options_of(i.dimensions) as options,
    r.work_s,
    r.ci_low,
    r.ci_high,
    r.upload,
    r.download,
    r.upload + r.download as moved,
    case when r.is_disturbed then array['work_s'] else '{}' end as disturbed_times
from case_info as i
join lateral (
    select
        sum(median) filter (where metric = 'time') as work_s,
        case when count(*) filter (where metric = 'time' and ci_low is null) = 0
            then sum(ci_low) filter (where metric = 'time') end as ci_low,
        case when count(*) filter (where metric = 'time' and ci_high is null) = 0
            then sum(ci_high) filter (where metric = 'time') end as ci_high,
        coalesce(sum(median) filter (where metric = 'size' and step is null), 0) as upload,
        coalesce(sum(median) filter (where metric = 'size' and step = 'returned'), 0) as download,
        bool_or(undisturbed_share = 0 and slowdown is null) filter (where metric = 'time') as is_disturbed
    from result
    where
        case_info_id = i.case_info_id
        and stage <> 'prepare'
        and (
            (metric = 'time' and party is not null)
            or (metric = 'size' and party is null and (step is null or step = 'returned'))
        )
) as r on r.work_s > 0 and r.upload + r.download > 0
where i.status = 'ok'
