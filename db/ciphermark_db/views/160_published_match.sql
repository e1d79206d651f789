-- The case of ours that a published figure is about. The sources leave open which vectors they took: of several
-- cases that differ in nothing else, the fullest vector of random data in one ciphertext stands for them.
-- The results of a run are made once, before they meet the figures: `offset 0` keeps the planner from making those of a
-- case anew for every figure that it may fit, which took as long as both multiplied.
create view published_match as
select distinct on (
    run.id, p.id, r.variant, r.operation, r.ring_dimension, r.ring_dimension_is_minimum, r.parameter_set_id,
    to_jsonb(c) - array['key', 'comparison_key', 'size', 'data_pattern']
)
    run.id as run_id,
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
    r.ring_dimension_is_minimum,
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
    r.case_key,
    r.modulus_bits,
    r.plain_modulus,
    r.scale,
    r.security_bits,
    r.chain_depth,
    r.dimensions,
    r.parameter_set_id,
    r.division,
    r.security_compared,
    r.key_switching,
    r.digits,
    r.special_primes,
    r.scaling,
    r.secret_distribution,
    r.encryption,
    r.comparison_key
from run
cross join lateral (
    select *
    from results
    where
        run_id = run.id
        and status = 'ok'
        and threads = 1
        and (ciphertexts = 1 or data_set is not null)
    offset 0
) as r
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
join case_ as c on c.key = r.case_key
order by
    run.id, p.id, r.variant, r.operation, r.ring_dimension, r.ring_dimension_is_minimum, r.parameter_set_id,
    to_jsonb(c) - array['key', 'comparison_key', 'size', 'data_pattern'], r.data_pattern = 'random' desc, r.size desc, r.case_key;

comment on view published_match is
    'Published figures beside ours of the same case: a row per run, figure, variant, operation and parameters. '
    'The same case: equal scheme, experiment, phase, metric, repetitions and data set, one of the operations that the '
    'figure is about, variant and N where the source tells them; one thread, and outside of learning one ciphertext';
