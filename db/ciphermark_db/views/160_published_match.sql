-- The Ciphermark case that a published value is about. The sources do not state their vectors: among cases that differ
-- in nothing else, the fullest vector of random data in one ciphertext is chosen.
create view published_match as
select distinct on (
    r.run_id, p.id, r.variant, r.operation, r.ring_dimension, r.ring_dimension_is_minimum, r.parameter_set_id,
    c.request - array['vector_length', 'data_pattern']
)
    r.*,
    p.id as published_id,
    p.source,
    p.year,
    p.system,
    p.host as published_host,
    p.result,
    p.value as published_value,
    p.threads as published_threads,
    p.security as published_security,
    p.provenance,
    p.note
from results as r
join published as p
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
    and r.threads = coalesce(p.threads, 1)
    and r.level is not distinct from p.level
    and r.security_2024 = coalesce(p.security, r.security_2024)
join case_request as c on c.key = r.case_key
where r.status = 'ok' and r.residency is distinct from 'streamed' and (r.ciphertexts = 1 or r.data_set is not null)
order by
    r.run_id, p.id, r.variant, r.operation, r.ring_dimension, r.ring_dimension_is_minimum, r.parameter_set_id,
    c.request - array['vector_length', 'data_pattern'], r.data_pattern = 'random' desc, r.vector_length desc, r.case_key;

comment on view published_match is
    'Published values next to ours of the same case: a row per run, result, variant, operation and parameters. '
    'Scheme, experiment, phase, metric, repetitions and data set are equal. The operation is one that the result '
    'covers; variant, N, level of the operands, threads and security are equal if the source states them. Ours have '
    'one thread where it does not and, except in learning, one ciphertext';
