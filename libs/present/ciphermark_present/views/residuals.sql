-- Each operation in a prediction, with the error of the whole prediction.
select
    t.*,
    s.operation as part,
    s.occurrences,
    s.predicted_s
from track_record as t
join prediction_share as s on s.case_info_id = t.case_info_id
where
    t.metric = 'time'
    and t.step = 'evaluate'
    and cardinality(t.uncovered) = 0
    and not 'median' = any (t.disturbed_times)
