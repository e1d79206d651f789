select *, case when is_composite then operation || ' (composite)' else operation end as label
from costs
