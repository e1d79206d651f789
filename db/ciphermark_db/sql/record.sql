-- name: record_host
insert into host (
    id, fingerprint, hostname, cpu_model, cpu_flags, caches_bytes, cores, memory_bytes, operating_system, kernel,
    governor, turbo, smt, container, clock_source, clock_resolution_ns
) values (
    %(id)s, %(fingerprint)s, %(hostname)s, %(cpu_model)s, %(cpu_flags)s, %(caches_bytes)s, %(cores)s,
    %(memory_bytes)s, %(operating_system)s, %(kernel)s, %(governor)s, %(turbo)s, %(smt)s, %(container)s,
    %(clock_source)s, %(clock_resolution_ns)s
) on conflict (id) do nothing;

-- name: record_run
insert into run (
    id, suite, suite_text, seed, started_at, software_version, host_id, host_clock_noise, host_load_1min,
    host_warnings, label, is_imported
) values (
    %(id)s, %(suite)s, %(suite_text)s, %(seed)s, %(started_at)s, %(software_version)s, %(host_id)s,
    %(host_clock_noise)s, %(host_load_1min)s, %(host_warnings)s, %(label)s, %(is_imported)s
) on conflict (id) do nothing;

-- name: label_run
update run set label = %(label)s where id = %(id)s;

-- name: record_refusal
insert into refusal (trial_id, run_id, reason) values (%(trial_id)s, %(run_id)s, %(reason)s)
on conflict (trial_id) do nothing;

-- name: record_build
insert into build (id, library, variant, version, hexl, is_debug, is_reference, facts)
values (%(id)s, %(library)s, %(variant)s, %(version)s, %(hexl)s, %(is_debug)s, %(is_reference)s, %(facts)s)
on conflict (id) do nothing;

-- name: record_parameter_set
insert into parameter_set (
    id, scheme, ring_dimension, modulus_bits, moduli, special_moduli, log_q, log_qp, plain_modulus, scale, slots,
    security_2018, security_2024, key_switching, digits, scaling, secret_distribution, encryption
) values (
    %(id)s, %(scheme)s, %(ring_dimension)s, %(modulus_bits)s, %(moduli)s::numeric[], %(special_moduli)s::numeric[],
    %(log_q)s, %(log_qp)s, %(plain_modulus)s, %(scale)s, %(slots)s, %(security_2018)s, %(security_2024)s,
    %(key_switching)s, %(digits)s, %(scaling)s, %(secret_distribution)s, %(encryption)s
) on conflict (id) do nothing;

-- name: record_case
insert into case_ (
    key, comparison_key, variant, experiment, operation, scheme, ring_dimension, modulus_bits, plain_modulus,
    scale_bits, security_bits, depth, ring_dimension_is_minimum, division, slots, size, data_pattern, threads,
    dimensions
) values (
    %(key)s, %(comparison_key)s, %(variant)s, %(experiment)s, %(operation)s, %(scheme)s, %(ring_dimension)s,
    %(modulus_bits)s, %(plain_modulus)s, %(scale_bits)s, %(security_bits)s, %(depth)s,
    %(ring_dimension_is_minimum)s, %(division)s, %(slots)s, %(size)s, %(data_pattern)s, %(threads)s, %(dimensions)s
) on conflict (key) do nothing;

-- name: record_trial
insert into trial (
    id, run_id, case_key, build_id, parameter_set_id, process, seed, budget, status, error, max_abs_error,
    wrong_slots, tolerance, precision_bits, started_at, duration_s, facts
) values (
    %(id)s, %(run_id)s, %(case_key)s, %(build_id)s, %(parameter_set_id)s, %(process)s, %(seed)s, %(budget)s,
    %(status)s, %(error)s, %(max_abs_error)s, %(wrong_slots)s, %(tolerance)s, %(precision_bits)s, %(started_at)s,
    %(duration_s)s, %(facts)s
) on conflict (id) do nothing;

-- name: record_metric
-- What this process does not know keeps what another one said of it.
insert into metric (name, unit, direction, floor, floor_kind, label, sentence, adds_up)
values (
    %(name)s, %(unit)s, %(direction)s, %(floor)s, %(floor_kind)s, %(label)s, %(sentence)s, %(adds_up)s
)
on conflict (name) do nothing;

-- name: record_dimension
insert into dimension (name, kind, sentence) values (%(name)s, %(kind)s, %(sentence)s)
on conflict (name) do nothing;

-- name: record_program
insert into program (digest, scheme, depth, nodes, constants, live_ciphertexts, counts, content)
values (
    %(digest)s, %(scheme)s, %(depth)s, %(nodes)s, %(constants)s, %(live_ciphertexts)s, %(counts)s, %(content)s
)
on conflict (digest) do nothing;

-- name: record_trial_program
insert into trial_program (trial_id, stage, program) values (%(trial_id)s, %(stage)s, %(program)s);

-- name: record_trial_layer
insert into trial_layer (
    trial_id, stage, position, layer, level, end_level, scale_bits, operand_bytes, result_bytes, counts
) values (
    %(trial_id)s, %(stage)s, %(position)s, %(layer)s, %(level)s, %(end_level)s, %(scale_bits)s, %(operand_bytes)s,
    %(result_bytes)s, %(counts)s
);

-- name: record_series
insert into series (trial_id, stage, party, step, metric)
select %(trial_id)s, found.*
from unnest(%(stages)s::text[], %(parties)s::text[], %(steps)s::text[], %(metrics)s::text[]) as found
returning stage, party, step, metric, id;

-- name: copy_samples
copy sample (series_id, value, loops, ordinal, repetitions, is_warmup, is_disturbed, slow_down) from stdin (format binary);

-- name: analyze
analyze host, build, parameter_set, run, case_, trial, series, sample;
