create view recorded_run as
select
    r.id as run_id,
    r.suite,
    r.label,
    r.started_at,
    r.software_version,
    r.is_imported,
    r.continues,
    h.id as host_id,
    h.hostname as host,
    h.cpu_model,
    h.cores,
    h.memory_bytes
from run as r
join host as h on h.id = r.host_id;

comment on view recorded_run is
    'Runs with their hosts, of any origin: measured here, by a job, or read from an archive';
comment on column recorded_run.label is 'A name that its owner gave it; NULL without one. It may stand wherever a run id can; where several runs have it, it means the latest';
comment on column recorded_run.software_version is 'Version of Ciphermark that measured';
comment on column recorded_run.is_imported is 'Whether it was read from an archive';
comment on column recorded_run.continues is 'The run that this one continues on a further host; NULL for most';
comment on column recorded_run.host_id is 'Identity of the host''s lasting facts';
comment on column recorded_run.cpu_model is 'CPU of the host';
comment on column recorded_run.cores is 'Cores of the host';
comment on column recorded_run.memory_bytes is 'Memory of the host, in bytes';
