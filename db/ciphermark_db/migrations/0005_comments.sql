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
    'keys, encrypt, operation or decrypt, or the object that a size belongs to';
comment on column results.size is 'Elements of the vector';
comment on column results.ciphertexts is 'Ciphertexts that the vector spans: size / slots, rounded up';
comment on column results.data_pattern is 'same: one value in all slots; random: a value for each';
comment on column results.threads is 'Threads that the library may use';
comment on column results.metric is
    'time, peak_memory, size, noise_budget, precision, depth, is_capped, ...; NULL where nothing counts'
    ' (see status)';
comment on column results.unit is 'Unit of the metric: s, bytes, bits, operations, flag';
comment on column results.repetitions is
    'Operations applied before this value was taken (depth and noise); otherwise NULL';
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

comment on view speedup is
    'What HEXL brings: time without HEXL / time with it, sample by sample, for two builds of one '
    'library in one run';
comment on column speedup.run_id is 'Run: one execution of a suite on a host';
comment on column speedup.library is 'Library of both variants';
comment on column speedup.variant_off is 'Variant without HEXL';
comment on column speedup.variant_on is 'Variant with HEXL';
comment on column speedup.scheme is 'bfv, bgv or ckks';
comment on column speedup.ring_dimension is
    'N: as used by the library, or as requested where the trial did not get that far';
comment on column speedup.modulus_bits is
    'Sizes of the primes in bits, special primes last: as used, or as requested; NULL asks for the '
    'default chain';
comment on column speedup.log_qp is
    'log2 of Q times the special primes: what security depends on; NULL like log_q';
comment on column speedup.security_2018 is
    'Classical security in bits (0, 128, 192, 256) by the 2018 standard; NULL like log_q';
comment on column speedup.experiment is
    'What the suite varies: arithmetic, rotation, depth, noise, serialization, ...';
comment on column speedup.operation is 'Homomorphic operation or workload';
comment on column speedup.phase is
    'keys, encrypt, operation or decrypt, or the object that a size belongs to';
comment on column speedup.size is 'Elements of the vector';
comment on column speedup.data_pattern is 'same: one value in all slots; random: a value for each';
comment on column speedup.threads is 'Threads that the library may use';
comment on column speedup.repetitions is
    'Operations applied before this value was taken (depth and noise); otherwise NULL';
comment on column speedup.n is 'Number of pairs: samples of the same process number and ordinal';
comment on column speedup.ratio is 'Median of time without / time with HEXL: above 1, HEXL is faster';
comment on column speedup.ci_low is 'Lower bound of the ratio''s 95 % interval; NULL for fewer than 6 pairs';
comment on column speedup.ci_high is 'Upper bound of the ratio''s 95 % interval; NULL for fewer than 6 pairs';
comment on column speedup.verdict is
    'Of the variant with HEXL: faster, slower, no difference (the interval widened by noise_floor() '
    'contains 1) or too few samples';
comment on column speedup.comparison_key is 'The same for all cases that differ in the variant only';

comment on view ratio is
    'Every variant against the fastest one: time / time of the fastest, sample by sample, per run, '
    'comparison and phase; pseudo-libraries are left out';
comment on column ratio.run_id is 'Run: one execution of a suite on a host';
comment on column ratio.variant is
    'Build that is compared, such as seal-hexl; seal@again is a second entry of the same build';
comment on column ratio.fastest_variant is 'Variant with the lowest median time; its own row has ratio 1';
comment on column ratio.scheme is 'bfv, bgv or ckks';
comment on column ratio.ring_dimension is
    'N: as used by the library, or as requested where the trial did not get that far';
comment on column ratio.log_qp is
    'log2 of Q times the special primes: what security depends on; NULL like log_q';
comment on column ratio.security_2018 is
    'Classical security in bits (0, 128, 192, 256) by the 2018 standard; NULL like log_q';
comment on column ratio.is_equal_security is
    'Whether this variant and the fastest have the same security_2018; where false the ratio compares '
    'unlike things';
comment on column ratio.is_equal_parameters is
    'Whether both have the same ring dimension and log_qp within 1 bit';
comment on column ratio.experiment is
    'What the suite varies: arithmetic, rotation, depth, noise, serialization, ...';
comment on column ratio.operation is 'Homomorphic operation or workload';
comment on column ratio.phase is 'keys, encrypt, operation or decrypt, or the object that a size belongs to';
comment on column ratio.size is 'Elements of the vector';
comment on column ratio.data_pattern is 'same: one value in all slots; random: a value for each';
comment on column ratio.threads is 'Threads that the library may use';
comment on column ratio.repetitions is
    'Operations applied before this value was taken (depth and noise); otherwise NULL';
comment on column ratio.rank is 'Place by median time, 1 for the fastest';
comment on column ratio.median_s is 'Median time of this variant in seconds';
comment on column ratio.n is 'Number of pairs: samples of the same process number and ordinal';
comment on column ratio.ratio is
    'Median of time of this variant / time of the fastest; NULL where no samples pair up';
comment on column ratio.ci_low is 'Lower bound of the ratio''s 95 % interval; NULL for fewer than 6 pairs';
comment on column ratio.ci_high is 'Upper bound of the ratio''s 95 % interval; NULL for fewer than 6 pairs';
comment on column ratio.verdict is
    'Of this variant against the fastest: slower, no difference (the interval widened by noise_floor() '
    'contains 1), too few samples; faster where pairs contradict the medians';
comment on column ratio.comparison_key is 'The same for all cases that differ in the variant only';

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

comment on view security is
    'Every parameter set that a library used, with its security by both tables';
comment on column security.parameter_set_id is 'Identity of the parameter set';
comment on column security.scheme is 'bfv, bgv or ckks';
comment on column security.ring_dimension is 'N';
comment on column security.modulus_bits is 'Sizes of the primes in bits, special primes last';
comment on column security.log_q is 'log2 of the ciphertext modulus Q';
comment on column security.log_qp is 'log2 of Q times the special primes: what security depends on';
comment on column security.plain_modulus is 'Plaintext modulus t (bfv, bgv); otherwise NULL';
comment on column security.scale is 'Default encoding scale (ckks); otherwise NULL';
comment on column security.slots is 'Values in one ciphertext';
comment on column security.security_2018 is
    'Classical security in bits (0, 128, 192, 256) by the 2018 standard';
comment on column security.security_2024 is
    'Classical security in bits (0, 128, 192, 256) by the 2024 guidelines';
comment on column security.variants is 'Variants that used it, in alphabetical order';
