-- Views of what is not time: depth, noise and security.

create view depth as
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
    c.operation,
    c.size,
    c.data_pattern,
    c.threads,
    (c.dimensions ->> 'cap')::integer as cap,
    s.depth,
    s.is_capped,
    g.status,
    g.error,
    c.comparison_key,
    c.key as case_key
from trial_group as g
join case_ as c on c.key = g.case_key
left join build as b on b.id = g.build_id
left join parameter_set as p on p.id = g.parameter_set_id
cross join lateral (
    select
        min(sample.value) filter (where series.metric = 'depth')::integer as depth,
        bool_and(sample.value <> 0) filter (where series.metric = 'is_capped') as is_capped
    from series
    join sample on sample.series_id = series.id and sample.series_id = any (array(
        select id from series where trial_id = any (g.trial_ids)
    ))
    where
        series.trial_id = any (g.trial_ids)
        and series.metric in ('depth', 'is_capped')
        and g.is_counted
        and not sample.is_warmup
) as s
where c.experiment = 'depth';

comment on view depth is
    'How many operations in a row a parameter set stands: a row per run, case and status of the depth '
    'experiment';
comment on column depth.run_id is 'Run: one execution of a suite on a host';
comment on column depth.variant is
    'Build that is compared, such as seal-hexl; seal@again is a second entry of the same build';
comment on column depth.library is 'Library of the variant; NULL where no worker got as far as loading it';
comment on column depth.scheme is 'bfv, bgv or ckks';
comment on column depth.ring_dimension is
    'N: as used by the library, or as requested where the trial did not get that far';
comment on column depth.modulus_bits is
    'Sizes of the primes in bits, special primes last: as used, or as requested; NULL asks for the '
    'default chain';
comment on column depth.log_q is
    'log2 of the ciphertext modulus Q; NULL where the trial resolved no parameters';
comment on column depth.log_qp is
    'log2 of Q times the special primes: what security depends on; NULL like log_q';
comment on column depth.security_2018 is
    'Classical security in bits (0, 128, 192, 256) by the 2018 standard; NULL like log_q';
comment on column depth.security_2024 is
    'Classical security in bits (0, 128, 192, 256) by the 2024 guidelines; NULL like log_q';
comment on column depth.operation is 'Homomorphic operation or workload';
comment on column depth.size is 'Elements of the vector';
comment on column depth.data_pattern is 'same: one value in all slots; random: a value for each';
comment on column depth.threads is 'Threads that the library may use';
comment on column depth.cap is 'Largest depth that was tried; NULL where there was no limit';
comment on column depth.depth is
    'Most operations after which the result was still right, least of all processes; NULL where nothing'
    ' counts (see status)';
comment on column depth.is_capped is
    'Whether the search ended at the cap, so that the true depth may be larger';
comment on column depth.status is
    'ok, wrong, unsupported, exhausted, crashed, out_of_memory, timed_out or cancelled';
comment on column depth.error is 'What went wrong, one line for each different text; NULL where nothing did';
comment on column depth.comparison_key is 'The same for all cases that differ in the variant only';
comment on column depth.case_key is 'The case: the same in all runs and on all hosts';
