-- name: record_host
-- Facts without a column are only in the journal.
insert into host select * from jsonb_populate_record(null::host, %(host)s) on conflict (id) do nothing;

-- name: record_run
insert into run (
    id, suite, suite_text, seed, started_at, software_version, host_id, host_clock_noise, host_load_1min,
    host_warnings, label, is_imported, is_shipped, continues
) values (
    %(id)s, %(suite)s, %(suite_text)s, %(seed)s, %(started_at)s, %(software_version)s, %(host_id)s,
    %(host_clock_noise)s, %(host_load_1min)s, %(host_warnings)s, %(label)s, %(is_imported)s,
    %(is_shipped)s, %(continues)s
) on conflict (id) do nothing;

-- name: record_progress
update run set progress = %(progress)s::jsonb || jsonb_build_object('at', now()) where id = %(run_id)s;

-- name: run_differences
-- The columns in which a recorded run differs from this one. Its label and origin may differ.
select d.what
from run as r
cross join lateral (
    values
    (1, 'suite', (r.suite, r.suite_text) is distinct from (%(suite)s::text, %(suite_text)s::text)),
    (2, 'seed', r.seed <> %(seed)s::numeric),
    (3, 'start', r.started_at <> %(started_at)s::timestamptz),
    (4, 'version', r.software_version <> %(software_version)s::text),
    (5, 'host', r.host_id <> %(host_id)s::text),
    (
        6,
        'state of the host',
        (r.host_clock_noise, r.host_load_1min, r.host_warnings) is distinct from (
            %(host_clock_noise)s::double precision, %(host_load_1min)s::double precision, %(host_warnings)s::text[]
        )
    )
) as d (position, what, is_other)
where r.id = %(id)s and d.is_other
order by d.position;

-- name: adopt_run
-- A reference run that a user imports is the user's.
update run set is_shipped = false, label = %(label)s where id = %(id)s and is_shipped;

-- name: record_reference
insert into reference_run (id) values (%(id)s);

-- name: audit
insert into audit (actor, action, run_id, detail) values (%(actor)s, %(action)s, %(run_id)s, %(detail)s);

-- name: label_run
update run set label = %(label)s where id = %(id)s;

-- name: lock_runs
-- Outcomes of a run are recorded by one transaction at a time, since results cover all its trials.
select id from run where id = any (%(runs)s) order by id for update;

-- name: recorded
select id, run_id from trial where id = any (%(trials)s);

-- name: record_refusal
insert into refusal (trial_id, run_id, reason) values (%(trial_id)s, %(run_id)s, %(reason)s)
on conflict (trial_id) do nothing;

-- name: record_build
insert into build (id, facts) values (%(id)s, %(facts)s)
on conflict (id) do nothing;

-- name: record_parameter_set
insert into parameter_set (id, moduli, special_moduli)
values (%(id)s, %(moduli)s::numeric[], %(special_moduli)s::numeric[])
on conflict (id) do nothing;

-- name: record_case_request
insert into case_request (key, request) values (%(key)s, %(request)s)
on conflict (key) do nothing;

-- name: record_case_info
-- {{columns}} and {{values}}: see ciphermark_core.descriptor. An existing row returns its number, too.
insert into case_info (run_id, case_key, comparison_group, build_id, parameter_set_id, status, {{columns}})
values (
    %(run_id)s, %(case_key)s, %(comparison_group)s, %(build_id)s, %(parameter_set_id)s, %(status)s, {{values}}
)
on conflict (run_id, case_key, build_id, parameter_set_id, status) do update set status = excluded.status
returning case_info_id;

-- name: record_trial
insert into trial (
    id, run_id, case_info_id, process, seed, budget, status, error, max_abs_error, incorrect_slots, tolerance,
    precision_bits, started_at, duration_s, facts, unmeasured, stacks
) values (
    %(id)s, %(run_id)s, %(case_info_id)s, %(process)s, %(seed)s, %(budget)s, %(status)s, %(error)s,
    %(max_abs_error)s, %(incorrect_slots)s, %(tolerance)s, %(precision_bits)s, %(started_at)s, %(duration_s)s, %(facts)s,
    %(unmeasured)s, %(stacks)s
);

-- name: record_metric
-- A metric that this process does not know keeps the row of another process.
insert into metric (name, unit, direction, threshold, threshold_kind, label, sentence, adds_up, probe)
values (
    %(name)s, %(unit)s, %(direction)s, %(threshold)s, %(threshold_kind)s, %(label)s, %(sentence)s, %(adds_up)s, %(probe)s
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
with recorded as (
    insert into series (trial_id, stage, party, step, metric)
    select *
    from unnest(%(trials)s::text[], %(stages)s::text[], %(parties)s::text[], %(steps)s::text[], %(metrics)s::text[])
    returning *
)
select r.trial_id, r.stage, r.party, r.step, r.metric, m.unit, r.id
from recorded as r
join metric as m on m.name = r.metric;

-- name: copy_samples
copy sample (series_id, loops, value, slowdown, is_disturbed, is_warmup, ordinal, repetitions) from stdin (format binary);

-- name: analyze
analyze
    host, run, case_request, case_info, trial, series, sample, case_facts, result, ratio, metric, experiment, published;
