select
    p.*,
    m.label
from profiles as p
left join metric as m on m.name = p.metric
