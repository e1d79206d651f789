select t.*, t.library_version as version, t.executed_at as started_at
from trials as t
where t.run_id = %(run_id)s and t.comparison_group = %(comparison_group)s
order by t.variant, t.process;
