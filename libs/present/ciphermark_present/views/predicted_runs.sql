-- Every run of this run's host that has predictions.
select
    t.run_id,
    r.suite,
    r.label,
    r.started_at,
    r.software_version,
    t.variant,
    t.prediction_error,
    t.is_within_prediction,
    cardinality(t.uncovered) > 0 or 'median' = any (t.disturbed_times) as is_void
from track_record as t
join run as r on r.id = t.run_id
where
    r.host_id = (select host_id from run where id = %(run_id)s)
    and t.metric = 'time'
    and t.step = 'evaluate'
order by r.sequence desc, t.variant
