create view track_record as
select
    i.*,
    options_of(i.dimensions) as options,
    p.stage,
    p.step,
    p.metric,
    m.unit,
    p.predicted,
    p.predicted_low,
    p.predicted_high,
    r.n,
    r.median,
    r.ci_low,
    r.ci_high,
    p.predicted / nullif(r.median, 0) - 1 as prediction_error,
    r.median between p.predicted_low and p.predicted_high as is_within_prediction,
    p.uncovered,
    p.cost_table,
    array_remove(array[case when m.unit = 's' and r.undisturbed_share = 0 and r.slowdown is null then 'median' end], null)
        as disturbed_times
from prediction as p
join case_info as i on i.case_info_id = p.case_info_id
join metric as m on m.name = p.metric
join result as r
    on
        r.case_info_id = p.case_info_id
        and r.stage = p.stage
        and r.step is not distinct from p.step
        and r.party is null
        and r.metric = p.metric
where i.status = 'ok';

comment on view track_record is
    'Predictions next to the measured results: a row per run, case, stage, step and metric. The cost table is from other '
    'runs than the predicted one';
