select
    *,
    median as bits,
    case metric when 'noise_budget' then 'noise budget' else metric end as meaning
from results
where metric in ('noise_budget', 'precision')
