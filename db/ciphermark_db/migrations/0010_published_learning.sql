-- Published figures of workloads stand beside ours by every variant, and by every workload that does the same.

create or replace view published_match as
select distinct on (r.run_id, p.id, r.variant, r.operation, r.ring_dimension, r.is_least)
    r.run_id,
    p.id as published_id,
    p.source,
    p.year,
    p.system,
    p.host as published_host,
    p.scheme,
    p.figure,
    p.metric,
    p.unit,
    p.value as published_value,
    p.note,
    r.variant,
    r.experiment,
    r.operation,
    r.phase,
    r.ring_dimension,
    r.is_least,
    r.log_qp,
    r.security_2018,
    r.security_2024,
    r.size,
    r.data_pattern,
    r.repetitions,
    r.host,
    r.n,
    r.median,
    r.ci_low,
    r.ci_high,
    r.case_key
from published as p
join results as r
    on (p.variant is null or r.variant = p.variant)
    and r.scheme = p.scheme
    and r.experiment = p.experiment
    and r.operation = any (string_to_array(p.operation, '|'))
    and r.phase = p.phase
    and r.metric = p.metric
    and r.unit = p.unit
    and r.ring_dimension = coalesce(p.ring_dimension, r.ring_dimension)
    and r.repetitions is not distinct from p.repetitions
    and r.data_set is not distinct from p.data_set
where r.status = 'ok' and r.threads = 1 and (r.ciphertexts = 1 or r.experiment = 'learning')
order by
    r.run_id, p.id, r.variant, r.operation, r.ring_dimension, r.is_least, r.data_pattern = 'random' desc, r.size desc,
    r.case_key;

comment on column published.variant is 'Variant of ours that it is about; NULL: all of them';
comment on column published.experiment is 'Experiment of our case; NULL where we have none';
comment on column published.phase is 'Phase of our case; NULL where we have none';
comment on column published.operation is
    'Our operation or workload; several that do the same are separated by |; NULL where we have none';
