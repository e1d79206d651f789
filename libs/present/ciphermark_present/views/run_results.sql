select
    r.*,
    ci_low as low,
    ci_high as high,
    (select count(distinct process) from trial as t where t.case_info_id = r.case_info_id) as processes
from results as r
