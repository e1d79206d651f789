-- The layers of a workload's last stage: their facts in its program, and their times and errors when executed one by
-- one. Any workload that names layers is included: this view knows no workload by name.
create view layers as
select
    {{case_but_level}},
    options_of(i.dimensions) as options,
    f.stage,
    f.position,
    f.layer,
    m.layer_time,
    m.ci_low,
    m.ci_high,
    m.uncorrected_layer_time,
    m.disturbed_times,
    m.layer_time / nullif(sum(m.layer_time) over (partition by i.run_id, i.case_info_id, f.stage), 0) as layer_share,
    f.level,
    f.end_level,
    f.scale_bits as end_scale_bits,
    f.operations,
    f.operand_bytes,
    f.result_bytes,
    m.layer_largest,
    m.layer_error
from case_info as i
join lateral (
    select
        stage,
        step,
        max(median) filter (where metric = 'layer_time') as layer_time,
        max(ci_low) filter (where metric = 'layer_time') as ci_low,
        max(ci_high) filter (where metric = 'layer_time') as ci_high,
        max(uncorrected_median) filter (where metric = 'layer_time') as uncorrected_layer_time,
        case
            when bool_or(undisturbed_share = 0 and slowdown is null) filter (where metric = 'layer_time')
                then array['layer_time']
            else '{}'
        end as disturbed_times,
        max(max) filter (where metric = 'layer_largest') as layer_largest,
        max(max) filter (where metric = 'layer_error') as layer_error
    from result
    where case_info_id = i.case_info_id and metric in ('layer_time', 'layer_largest', 'layer_error')
    group by stage, step
) as m on true
join lateral (
    select distinct on (l.stage, l.layer)
        l.*,
        (
            select jsonb_object_agg(each.operation, each.n)
            from (
                select counted.operation, sum(counted.n) as n
                from jsonb_to_recordset(l.counts) as counted (operation text, n bigint)
                group by counted.operation
            ) as each
        ) as operations
    from trial_layer as l
    join trial as t on t.id = l.trial_id
    where t.case_info_id = i.case_info_id
    order by l.stage, l.layer, t.id
) as f on f.stage = m.stage and f.layer = m.step
where i.status = 'ok';

comment on view layers is
    'Parts of the server''s computation, executed one by one in addition to the passes, which are timed as a whole: a '
    'row per run, case, stage and layer';
