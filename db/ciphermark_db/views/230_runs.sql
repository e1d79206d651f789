create view runs as
select
    r.id as run_id,
    r.suite,
    r.label,
    r.started_at,
    r.software_version,
    r.is_imported,
    r.is_shipped,
    r.continues,
    r.host_id,
    h.hostname as host,
    h.fingerprint as host_fingerprint,
    h.cpu_model,
    h.cores,
    h.memory_bytes,
    h.operating_system,
    h.kernel,
    h.governor,
    h.turbo,
    h.smt,
    h.container,
    r.host_clock_noise,
    r.host_load_1min,
    r.host_warnings,
    r.seed,
    r.sequence,
    r.suite_text
from run as r
join host as h on h.id = r.host_id;

comment on view runs is
    'Runs with their hosts, whether measured here, by a job, or read from an archive: a row per run';
