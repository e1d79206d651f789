create view results as
select
    g.run_id,
    r.suite,
    r.started_at,
    h.hostname as host,
    h.fingerprint as host_fingerprint,
    c.variant,
    b.library,
    b.version as library_version,
    b.hexl,
    b.is_debug,
    c.scheme,
    coalesce(p.ring_dimension, c.ring_dimension) as ring_dimension,
    coalesce(p.modulus_bits, c.modulus_bits) as modulus_bits,
    p.log_q,
    p.log_qp,
    p.security_2018,
    p.security_2024,
    c.experiment,
    c.operation,
    s.phase,
    c.size,
    (c.size + coalesce(p.slots, c.slots) - 1) / coalesce(p.slots, c.slots) as ciphertexts,
    c.data_pattern,
    c.threads,
    s.metric,
    m.unit,
    coalesce(s.repetitions, (c.dimensions ->> 'repetitions')::integer) as repetitions,
    cardinality(s.sorted) as n,
    median_of(s.sorted) as median,
    interval_low(s.sorted) as ci_low,
    interval_high(s.sorted) as ci_high,
    mad_of(s.sorted) as mad,
    s.sorted[1] as min,
    s.sorted[cardinality(s.sorted)] as max,
    g.status,
    g.error,
    c.comparison_key,
    c.key as case_key,
    c.depth,
    c.ring_dimension_is_minimum,
    c.dimensions ->> 'data_set' as data_set,
    s.stage,
    s.party,
    s.step,
    c.dimensions,
    m.direction,
    m.floor,
    m.floor_kind
from trial_group as g
join run as r on r.id = g.run_id
join host as h on h.id = r.host_id
join case_ as c on c.key = g.case_key
left join build as b on b.id = g.build_id
left join parameter_set as p on p.id = g.parameter_set_id
left join lateral (
    select
        phase_of(series.stage, series.party, series.step) as phase,
        series.stage,
        series.party,
        series.step,
        series.metric,
        sample.repetitions,
        array_agg(sample.value order by sample.value) as sorted
    from series
    join sample on sample.series_id = series.id and sample.series_id = any (array(
        select id from series where trial_id = any (g.trial_ids)
    ))
    where series.trial_id = any (g.trial_ids) and g.is_counted and not sample.is_warmup
    group by series.stage, series.party, series.step, series.metric, sample.repetitions
) as s on true
left join metric as m on m.name = s.metric;

-- What every view and column means, for `\d+` in psql.

comment on view results is
    'Medians with intervals: a row per run, case, status, phase, metric and repetitions; samples of all'
    ' processes of a case are pooled. Only trials that ended ok count, in depth and noise also '
    'exhausted ones; the others have one row without metric, so that failures show';
comment on column results.run_id is 'Run: one execution of a suite on a host';
comment on column results.suite is 'Name of the suite';
comment on column results.started_at is 'When the run started';
comment on column results.host is 'Name of the host that executed the run';
comment on column results.host_fingerprint is 'Identity of the host''s hardware and software';
comment on column results.variant is
    'Build that is compared, such as seal-hexl; seal@again is a second entry of the same build';
comment on column results.library is 'Library of the variant; NULL where no worker got as far as loading it';
comment on column results.library_version is 'Version that the library reports; NULL like library';
comment on column results.hexl is 'Whether the build uses Intel HEXL; NULL like library';
comment on column results.is_debug is
    'Whether this is a debug build, whose times mean nothing; NULL like library';
comment on column results.scheme is 'bfv, bgv or ckks';
comment on column results.ring_dimension is
    'N: as used by the library, or as requested where the trial did not get that far';
comment on column results.modulus_bits is
    'Sizes of the primes in bits, special primes last: as used, or as requested; NULL asks for the '
    'default chain';
comment on column results.log_q is
    'log2 of the ciphertext modulus Q; NULL where the trial resolved no parameters';
comment on column results.log_qp is
    'log2 of Q times the special primes: what security depends on; NULL like log_q';
comment on column results.security_2018 is
    'Classical security in bits (0, 128, 192, 256) by the 2018 standard; NULL like log_q';
comment on column results.security_2024 is
    'Classical security in bits (0, 128, 192, 256) by the 2024 guidelines; NULL like log_q';
comment on column results.experiment is
    'What the suite varies: arithmetic, rotation, depth, noise, serialization, ...';
comment on column results.operation is 'Homomorphic operation or workload';
comment on column results.phase is
    'keys, encrypt, operation or decrypt; in learning a stage (prepare, train, infer), or a step or party of one '
    '(train.encrypt, train.server); or the object that a size belongs to';
comment on column results.size is 'Elements of the vector';
comment on column results.ciphertexts is 'Ciphertexts that the vector spans: size / slots, rounded up';
comment on column results.data_pattern is 'same: one value in all slots; random: a value for each';
comment on column results.threads is 'Threads that the library may use';
comment on column results.metric is
    'What was measured: a name of the table metric, such as time, cpu_time, peak_memory, size, noise_budget, precision, '
    'depth; NULL where nothing counts (see status)';
comment on column results.unit is 'Unit of the metric: s, bytes, bits, operations, flag, share, ratio';
comment on column results.repetitions is
    'Operations applied before this value was taken (depth, noise), or in a row (repetition); otherwise NULL';
comment on column results.n is 'Number of samples behind the figures, warm-ups excluded';
comment on column results.median is 'Median of the samples';
comment on column results.ci_low is
    'Lower bound of the 95 % order-statistic interval of the median; NULL for fewer than 6 samples';
comment on column results.ci_high is
    'Upper bound of the 95 % order-statistic interval of the median; NULL for fewer than 6 samples';
comment on column results.mad is 'Median absolute deviation from the median, unscaled';
comment on column results.min is 'Smallest sample';
comment on column results.max is 'Largest sample';
comment on column results.status is
    'ok, wrong, unsupported, exhausted, crashed, out_of_memory, timed_out or cancelled';
comment on column results.error is
    'What went wrong, one line for each different text; NULL where nothing did';
comment on column results.comparison_key is 'The same for all cases that differ in the variant only';
comment on column results.case_key is 'The case: the same in all runs and on all hosts';
comment on column results.depth is
    'Multiplications one after another that the chain was made for; NULL where the suite gave the chain or left it '
    'to the library';
comment on column results.ring_dimension_is_minimum is
    'Whether the ring dimension is the smallest that is secure for the chain, rather than given by the suite';
comment on column results.data_set is 'Name of the real data; NULL where vectors are made up';
comment on column results.stage is
    'keys, encrypt, operation, decrypt, or the object that a size belongs to; of a workload one of its stages; NULL like '
    'metric';
comment on column results.party is 'The party whose own sum or peak it is; otherwise NULL';
comment on column results.step is 'A part of the stage, of whichever party; otherwise NULL';
comment on column results.dimensions is
    'What one experiment or family alone is varied by; its keys are those of the table dimension';
comment on column results.direction is 'Which medians are better, lower or higher; NULL where neither is';
comment on column results.floor is
    'Medians within this factor of each other, or apart by this much (see floor_kind), show no difference';
comment on column results.floor_kind is 'factor; or difference, in units of the metric';
