create view ratio as select * from ratios(false);

comment on view ratio is
    'Every variant against the fastest one of its security level (2018): time / time of the fastest, sample by sample, '
    'per run, comparison, phase and level; pseudo-libraries are left out';
comment on column ratio.run_id is 'Run: one execution of a suite on a host';
comment on column ratio.variant is
    'Build that is compared, such as seal-hexl; seal@again is a second entry of the same build';
comment on column ratio.fastest_variant is
    'Variant with the lowest median time at this security level; its own row has ratio 1';
comment on column ratio.scheme is 'bfv, bgv or ckks';
comment on column ratio.ring_dimension is
    'N: as used by the library, or as requested where the trial did not get that far';
comment on column ratio.log_qp is
    'log2 of Q times the special primes: what security depends on; NULL like log_q';
comment on column ratio.security_2018 is
    'Classical security in bits (0, 128, 192, 256) by the 2018 standard; NULL like log_q';
comment on column ratio.is_equal_security is
    'Always true: variants of other levels have a fastest of their own, see ratio_any_security';
comment on column ratio.is_equal_parameters is
    'Whether both have the same ring dimension and log_qp within 1 bit';
comment on column ratio.experiment is
    'What the suite varies: arithmetic, rotation, depth, noise, serialization, ...';
comment on column ratio.operation is 'Homomorphic operation or workload';
comment on column ratio.phase is
    'keys, encrypt, operation or decrypt; in learning a stage (prepare, train, infer), or a step or party of one '
    '(train.encrypt, train.server); or the object that a size belongs to';
comment on column ratio.size is 'Elements of the vector';
comment on column ratio.data_pattern is 'same: one value in all slots; random: a value for each';
comment on column ratio.threads is 'Threads that the library may use';
comment on column ratio.repetitions is
    'Operations applied before this value was taken (depth, noise), or in a row (repetition); otherwise NULL';
comment on column ratio.rank is 'Place by median time at this security level, 1 for the fastest';
comment on column ratio.median_s is 'Median time of this variant in seconds';
comment on column ratio.n is
    'Number of pairs: samples of the same process number and ordinal; where is_paired is false, samples of the one '
    'with fewer';
comment on column ratio.ratio is
    'Median of time of this variant / time of the fastest; where is_paired is false, ratio of their medians';
comment on column ratio.ci_low is
    'Lower bound of the ratio''s 95 % interval, the conservative one where is_paired is false; NULL for fewer than 6 '
    'samples';
comment on column ratio.ci_high is
    'Upper bound of the ratio''s 95 % interval, the conservative one where is_paired is false; NULL for fewer than 6 '
    'samples';
comment on column ratio.verdict is
    'Of this variant against the fastest: slower, no difference (the interval widened by noise_floor() '
    'contains 1), too few samples; faster where pairs contradict the medians';
comment on column ratio.comparison_key is 'The same for all cases that differ in the variant only';
comment on column ratio.is_paired is
    'Whether the variant and the fastest took turns, so that their samples pair up; trials that do not overlap in time '
    'did not';
comment on column ratio.security_2024 is
    'Classical security in bits (0, 128, 192, 256) by the 2024 guidelines; NULL like log_q';
comment on column ratio.fastest_ring_dimension is 'ring_dimension of the fastest variant';
comment on column ratio.fastest_log_qp is 'log_qp of the fastest variant';
comment on column ratio.fastest_security_2018 is 'security_2018 of the fastest variant';
comment on column ratio.depth is
    'Multiplications one after another that the chain was made for; NULL where the suite gave the chain or left it '
    'to the library';
comment on column ratio.ring_dimension_is_minimum is
    'Whether the ring dimension is the smallest that is secure for the chain, rather than given by the suite';
comment on column ratio.data_set is 'Name of the real data; NULL where vectors are made up';
comment on column ratio.case_key is 'The case: the same in all runs and on all hosts';
