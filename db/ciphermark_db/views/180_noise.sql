create view noise as
select
    g.run_id,
    c.variant,
    b.library,
    c.scheme,
    coalesce(p.ring_dimension, c.ring_dimension) as ring_dimension,
    coalesce(p.modulus_bits, c.modulus_bits) as modulus_bits,
    p.log_q,
    p.log_qp,
    p.security_2018,
    p.security_2024,
    c.experiment,
    c.operation,
    c.size,
    c.data_pattern,
    c.threads,
    s.phase,
    s.repetitions,
    s.noise_budget_bits,
    s.precision_bits,
    g.status,
    c.comparison_key,
    c.key as case_key
from trial_group as g
join case_ as c on c.key = g.case_key
left join build as b on b.id = g.build_id
left join parameter_set as p on p.id = g.parameter_set_id
cross join lateral (
    select
        phase_of(series.stage, series.party, series.step) as phase,
        sample.repetitions,
        median_of(
            array_agg(sample.value order by sample.value) filter (where series.metric = 'noise_budget')
        ) as noise_budget_bits,
        median_of(
            array_agg(sample.value order by sample.value) filter (where series.metric = 'precision')
        ) as precision_bits
    from series
    join sample on sample.series_id = series.id and sample.series_id = any (array(
        select id from series where trial_id = any (g.trial_ids)
    ))
    where
        series.trial_id = any (g.trial_ids)
        and series.metric in ('noise_budget', 'precision')
        and g.is_counted
        and not sample.is_warmup
    group by series.stage, series.party, series.step, sample.repetitions
) as s;

comment on view noise is
    'Noise budget or precision left: a row per run, case, status, phase and repetitions';
comment on column noise.run_id is 'Run: one execution of a suite on a host';
comment on column noise.variant is
    'Build that is compared, such as seal-hexl; seal@again is a second entry of the same build';
comment on column noise.library is 'Library of the variant; NULL where no worker got as far as loading it';
comment on column noise.scheme is 'bfv, bgv or ckks';
comment on column noise.ring_dimension is
    'N: as used by the library, or as requested where the trial did not get that far';
comment on column noise.modulus_bits is
    'Sizes of the primes in bits, special primes last: as used, or as requested; NULL asks for the '
    'default chain';
comment on column noise.log_q is
    'log2 of the ciphertext modulus Q; NULL where the trial resolved no parameters';
comment on column noise.log_qp is
    'log2 of Q times the special primes: what security depends on; NULL like log_q';
comment on column noise.security_2018 is
    'Classical security in bits (0, 128, 192, 256) by the 2018 standard; NULL like log_q';
comment on column noise.security_2024 is
    'Classical security in bits (0, 128, 192, 256) by the 2024 guidelines; NULL like log_q';
comment on column noise.experiment is
    'What the suite varies: arithmetic, rotation, depth, noise, serialization, ...';
comment on column noise.operation is 'Homomorphic operation or workload';
comment on column noise.size is 'Elements of the vector';
comment on column noise.data_pattern is 'same: one value in all slots; random: a value for each';
comment on column noise.threads is 'Threads that the library may use';
comment on column noise.phase is 'keys, encrypt, operation or decrypt, or the object that a size belongs to';
comment on column noise.repetitions is 'Operations applied so far; NULL where the experiment does not repeat';
comment on column noise.noise_budget_bits is
    'Bits of noise budget left (bfv, bgv), median of the processes; otherwise NULL';
comment on column noise.precision_bits is
    'Right bits of the decrypted values (ckks), median of the processes; otherwise NULL';
comment on column noise.status is
    'ok, wrong, unsupported, exhausted, crashed, out_of_memory, timed_out or cancelled';
comment on column noise.comparison_key is 'The same for all cases that differ in the variant only';
comment on column noise.case_key is 'The case: the same in all runs and on all hosts';
