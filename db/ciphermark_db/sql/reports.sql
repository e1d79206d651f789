-- name: run
select r.id, r.suite, r.started_at, h.hostname, h.cpu_model, h.fingerprint
from run as r
join host as h on h.id = r.host_id
where r.id = %(run_id)s;
