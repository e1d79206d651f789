select s.*, h.cpu_model as cpu
from speedup as s
join run as r on r.id = s.run_id
join host as h on h.id = r.host_id
