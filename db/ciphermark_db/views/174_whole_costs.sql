-- A pass has every stage but the one-time stage `prepare`. Any workload is included: this view knows no workload by name.
create view whole_costs as
select
    i.*,
    options_of(i.dimensions) as options,
    c.inputs,
    c.work_s,
    c.ci_low,
    c.ci_high,
    c.client_s,
    c.server_s,
    c.prepare_s,
    c.preparation_s,
    c.upload,
    c.download,
    c.upload + c.download as moved,
    c.keys_size,
    c.client_peak_bytes,
    c.server_peak_bytes,
    coalesce(c.max_error, t.max_error) as max_error,
    c.disturbed_times
from case_info as i
join lateral (
    select
        coalesce((i.dimensions ->> 'inputs_per_pass')::integer, 1)
        * coalesce(max(median) filter (where metric = 'images'), 1)::integer as inputs,
        sum(median) filter (where is_work) as work_s,
        case when count(*) filter (where is_work and ci_low is null) = 0
            then sum(ci_low) filter (where is_work) end as ci_low,
        case when count(*) filter (where is_work and ci_high is null) = 0
            then sum(ci_high) filter (where is_work) end as ci_high,
        sum(median) filter (where is_work and party = 'client') as client_s,
        sum(median) filter (where is_work and party = 'server') as server_s,
        sum(median) filter (where metric = 'time' and stage = 'prepare' and coalesce(party, step) is null) as prepare_s,
        sum(median) filter (where metric = 'time' and step in ('trace', 'encode')) as preparation_s,
        coalesce(sum(median) filter (where is_message and step is null), 0) as upload,
        coalesce(sum(median) filter (where is_message and step = 'returned'), 0) as download,
        max(median) filter (where metric = 'size' and stage = 'prepare' and coalesce(party, step) is null) as keys_size,
        max(median) filter (where metric = 'peak_memory' and party = 'client') as client_peak_bytes,
        max(median) filter (where metric = 'peak_memory' and party = 'server') as server_peak_bytes,
        max(max) filter (where metric = 'max_error') as max_error,
        array_remove(
            array[
                case when bool_or(is_work and is_disturbed) then 'work_s' end,
                case when bool_or(is_work and is_disturbed and party = 'client') then 'client_s' end,
                case when bool_or(is_work and is_disturbed and party = 'server') then 'server_s' end
            ],
            null
        ) as disturbed_times
    from (
        select
            *,
            metric = 'time' and party is not null and stage <> 'prepare' as is_work,
            metric = 'size' and party is null and stage <> 'prepare' as is_message,
            undisturbed_share is not distinct from 0 and slowdown is null as is_disturbed
        from result
        where case_info_id = i.case_info_id
    ) as each
) as c on c.work_s > 0 and c.upload + c.download > 0
cross join lateral (
    select max(max_abs_error) as max_error from trial where case_info_id = i.case_info_id
) as t
where i.status = 'ok';

comment on view whole_costs is
    'Whole cost of a pass of a workload: both parties'' time, bytes in each direction, keys, memory and largest error: '
    'a row per run and case. Over a link of B bit/s, a pass takes work_s + 8 * moved / B';
