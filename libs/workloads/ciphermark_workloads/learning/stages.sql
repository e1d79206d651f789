select
    *,
    client_cpu_s / nullif(time_s, 0) as client_cpu,
    server_cpu_s / nullif(time_s, 0) as server_cpu
from (
    select
        i.*,
        options_of(i.dimensions) as options,
        r.stage,
        max(r.median) filter (where r.metric = 'time' and coalesce(r.party, r.step) is null) as time_s,
        max(r.uncorrected_median) filter (where r.metric = 'time' and coalesce(r.party, r.step) is null) as uncorrected_time_s,
        max(r.median) filter (where r.metric = 'time' and r.step = 'evaluate') as evaluate_s,
        array_remove(
            array_agg(
                distinct case
                    when r.metric <> 'time' or r.undisturbed_share is distinct from 0 or r.slowdown is not null then null
                    when coalesce(r.party, r.step) is null then 'time_s'
                    when r.step = 'evaluate' then 'evaluate_s'
                    when r.step in ('serialize', 'deserialize') then 'serialization_s'
                end
            ),
            null
        ) as disturbed_times,
        sum(r.median) filter (where r.metric = 'time' and r.step in ('serialize', 'deserialize')) as serialization_s,
        max(r.median) filter (where r.metric = 'time' and r.step = 'transfer') as transfer_s,
        max(r.median) filter (where r.metric = 'cpu_time' and r.party = 'client') as client_cpu_s,
        max(r.median) filter (where r.metric = 'cpu_time' and r.party = 'server') as server_cpu_s,
        max(r.median) filter (where r.metric = 'peak_memory' and r.party = 'client') as client_peak_bytes,
        max(r.median) filter (where r.metric = 'peak_memory' and r.party = 'server') as server_peak_bytes
    from result as r
    join case_info as i on i.case_info_id = r.case_info_id
    where i.status = 'ok'
    group by i.case_info_id, r.stage
) as each
