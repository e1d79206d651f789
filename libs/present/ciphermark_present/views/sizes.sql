select
    i.*,
    phase_of(r.stage, r.party, r.step) as object,
    i.operation as compression,
    max(r.median) filter (where r.metric = 'size') as bytes,
    max(r.median) filter (where r.metric = 'expansion') as expansion
from result as r
join case_info as i on i.case_info_id = r.case_info_id
where r.metric in ('size', 'expansion')
group by i.case_info_id, r.stage, r.party, r.step
having bool_or(r.metric = 'size')
