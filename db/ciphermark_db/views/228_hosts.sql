create view hosts as
select
    h.id as host_id,
    h.hostname as host,
    h.fingerprint as host_fingerprint,
    h.cpu_model,
    h.cpu_flags,
    h.caches_bytes,
    h.cores,
    h.memory_bytes,
    h.operating_system,
    h.kernel,
    h.governor,
    h.turbo,
    h.smt,
    h.container,
    h.clock_source,
    h.clock_resolution_ns
from host as h;

comment on view hosts is 'Every host of a measurement: a row for each state of its permanent facts';
