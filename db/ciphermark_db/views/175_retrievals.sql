-- The workload itself records the sizes of a query's database and answer: this view knows no option by name. For a
-- single query, a disturbed time counts only if there is no other.
create view retrievals as
select
    *,
    inputs * database_size / nullif(answer_s, 0) as throughput,
    answer_s / nullif(inputs * answers, 0) as element_s,
    answer_s / nullif(inputs, 0) as query_s,
    answer_s / nullif(inputs, 0) / nullif(alone_s, 0) as alone_share,
    inputs * answered_size / nullif(download, 0) as rate,
    store_size / nullif(database_size, 0) as store_expansion,
    store_size / nullif(answer_s, 0) / nullif(memory_bandwidth, 0) as bandwidth_share
from (
    select
        i.*,
        options_of(i.dimensions) as options,
        n.inputs,
        max(r.median) filter (where r.metric = 'database_size') as database_size,
        max(r.median) filter (where r.metric = 'answers') as answers,
        max(r.median) filter (where r.metric = 'answered_size') as answered_size,
        max(r.median) filter (where r.is_answer) as answer_s,
        max(r.ci_low) filter (where r.is_answer) as ci_low,
        max(r.ci_high) filter (where r.is_answer) as ci_high,
        coalesce(
            max(max(r.median) filter (where r.is_answer and not r.is_disturbed)) filter (where n.inputs = 1) over alone,
            max(max(r.median) filter (where r.is_answer)) filter (where n.inputs = 1) over alone
        ) as alone_s,
        array_remove(
            array_agg(
                distinct case
                    when not r.is_time or not r.is_disturbed then null
                    when r.party is not null then r.party || '_s'
                    when r.step in ('trace', 'encode') then 'preparation_s'
                end
            ),
            null
        )
        || case
            when bool_or(r.is_disturbed) filter (where r.is_answer)
                then array['answer_s', 'throughput', 'element_s', 'query_s', 'bandwidth_share']
            else '{}'
        end
        || case
            when bool_and(bool_or(r.is_disturbed) filter (where r.is_answer)) filter (where n.inputs = 1) over alone
                then array['alone_s', 'alone_share']
            when bool_or(r.is_disturbed) filter (where r.is_answer) then array['alone_share']
            else '{}'
        end as disturbed_times,
        max(r.uncorrected_median) filter (where r.is_answer) as uncorrected_answer_s,
        max(r.median) filter (where r.metric = 'cpu_time' and r.step = 'evaluate') as answer_cpu_s,
        max(r.median) filter (where r.is_time and r.party = 'client') as client_s,
        max(r.median) filter (where r.is_time and r.party = 'server') as server_s,
        sum(r.median) filter (where r.is_time and r.step in ('trace', 'encode')) as preparation_s,
        max(r.median) filter (where r.metric = 'store_size') as store_size,
        max(r.median) filter (where r.metric = 'memory_bandwidth') as memory_bandwidth,
        min(r.median) filter (where r.metric = 'noise_budget') as noise_budget_bits,
        max(r.max) filter (where r.metric = 'max_error') as max_error,
        max(r.median) filter (where r.metric = 'size' and r.step is null and r.stage = a.answering) as upload,
        max(r.median) filter (where r.metric = 'size' and r.step = 'returned' and r.stage = a.answering) as download,
        max(r.median) filter (where r.metric = 'size' and r.step is null and r.stage = 'prepare') as keys_size
    from case_info as i
    cross join lateral (select coalesce((i.dimensions ->> 'inputs_per_pass')::integer, 1) as inputs) as n
    join lateral (
        select max(stage) as answering from result where case_info_id = i.case_info_id and metric = 'database_size'
    ) as a on a.answering is not null
    join lateral (
        select
            *,
            metric = 'time' as is_time,
            metric = 'time' and step = 'evaluate' as is_answer,
            undisturbed_share is not distinct from 0 and slowdown is null as is_disturbed
        from result
        where case_info_id = i.case_info_id and (stage = a.answering or (stage = 'prepare' and metric = 'size'))
    ) as r on true
    where i.status = 'ok'
    group by i.case_info_id, n.inputs
    window alone as (
        partition by
            i.run_id, i.variant, i.operation, i.dimensions - 'inputs_per_pass', i.parameter_set_id, i.tuning, i.threads
    )
) as each;

comment on view retrievals is
    'Private information retrieval: time, traffic and result of a query, a row per run and case';
