select
    *,
    coalesce(noise_budget_bits, precision_bits) as bits,
    case when noise_budget_bits is not null then 'noise budget' else 'precision' end as meaning
from noise
