select *, case when is_composed then operation || ' (composed)' else operation end as label
from results
where metric = 'time'
