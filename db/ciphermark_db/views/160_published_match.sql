-- The case of ours that a published figure is about. The sources leave open which vectors they took: of several
-- cases that differ in nothing else, the fullest vector of random data in one ciphertext stands for them.
create view published_match as
select distinct on (r.run_id, p.id, r.variant, r.operation, r.ring_dimension, r.ring_dimension_is_minimum)
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
where r.status = 'ok' and r.threads = 1 and (r.ciphertexts = 1 or r.data_set is not null)
order by
    r.run_id, p.id, r.variant, r.operation, r.ring_dimension, r.ring_dimension_is_minimum, r.data_pattern = 'random' desc, r.size desc,
    r.case_key;

comment on view published_match is
    'Published figures beside ours of the same case: a row per run, figure, variant, operation and ring dimension. '
    'The same case: equal scheme, experiment, phase, metric, repetitions and data set, one of the operations that the '
    'figure is about, variant and N where the source tells them; one thread, and outside of learning one ciphertext';
comment on column published_match.run_id is 'Run: one execution of a suite on a host';
comment on column published_match.published_id is 'Identity of the published figure';
comment on column published_match.source is 'Paper or report';
comment on column published_match.year is 'Year of the source';
comment on column published_match.system is 'Library that the source measured';
comment on column published_match.published_host is 'Machine that it was measured on, as the source says';
comment on column published_match.scheme is 'bfv, bgv or ckks';
comment on column published_match.figure is 'What was measured, in the words of the source';
comment on column published_match.metric is 'time, peak_memory, accuracy, mse or expansion';
comment on column published_match.unit is 'Unit of both figures: s, bytes, share or ratio';
comment on column published_match.published_value is 'The published figure';
comment on column published_match.note is 'What one should know of it; NULL where there is nothing';
comment on column published_match.variant is 'Variant of our case';
comment on column published_match.experiment is 'Experiment of our case';
comment on column published_match.operation is 'Operation of our case';
comment on column published_match.phase is 'Phase of our case';
comment on column published_match.ring_dimension is 'N of our case';
comment on column published_match.ring_dimension_is_minimum is
    'Whether that N is the smallest that is secure for the chain, rather than given by the suite';
comment on column published_match.log_qp is 'log2 of Q times the special primes of our case';
comment on column published_match.security_2018 is
    'Classical security of our case in bits (0, 128, 192, 256) by the 2018 standard';
comment on column published_match.security_2024 is
    'Classical security of our case in bits (0, 128, 192, 256) by the 2024 guidelines';
comment on column published_match.size is 'Elements of our vector';
comment on column published_match.data_pattern is 'Data of our vector';
comment on column published_match.repetitions is 'Operations in a row; NULL where the case does not repeat';
comment on column published_match.host is 'Name of the host of our run';
comment on column published_match.n is 'Number of our samples';
comment on column published_match.median is 'Our figure: median of the samples';
comment on column published_match.ci_low is 'Lower bound of its 95 % interval; NULL for fewer than 6 samples';
comment on column published_match.ci_high is 'Upper bound of its 95 % interval; NULL for fewer than 6 samples';
comment on column published_match.case_key is 'The case: the same in all runs and on all hosts';
