-- The schema. Units are in column names; absent is NULL, never 0. Rows that describe something (host, request, build,
-- parameter set, program) are named by a hash of their content, so that recording them twice is recording them once.
-- Facts are what was recorded; case_facts, result, ratio and host_state are computed from them by ciphermark_analysis,
-- and name the version of its method. Needs PostgreSQL 15.

create table view_file (
    position integer primary key,
    name text not null unique,
    kind text not null check (kind in ('view', 'function')),
    checksum text not null
);

comment on table view_file is 'Internal: the views and functions that the files in views/ made, in their order';

-- Registries: what names mean. Migrating fills them from this program, recording adds what a workload brings.

create table metric (
    name text primary key,
    unit text not null,
    direction text check (direction in ('lower', 'higher')),
    floor double precision not null,
    floor_kind text not null check (floor_kind in ('factor', 'difference')),
    label text not null,
    sentence text not null,
    adds_up boolean not null
);

comment on table metric is
    'What is recorded. Migrating fills it from the registry of this program; recording adds what a workload brings';
comment on column metric.name is 'Name, as in series';
comment on column metric.unit is 'Unit of its values: s, bytes, bits, operations, flag, share, ratio, ...';
comment on column metric.direction is 'Which figures are better, lower or higher; NULL where neither is';
comment on column metric.floor is
    'Figures within this factor of each other, or apart by this much (see floor_kind), show no difference';
comment on column metric.floor_kind is 'factor; or difference, in units of the metric';
comment on column metric.label is 'Heading of a column';
comment on column metric.sentence is 'What it means';
comment on column metric.adds_up is
    'Whether the value of a whole is the sum of its parts; where not, as for a peak, it is the largest of them';

create table dimension (
    name text primary key,
    kind text not null,
    sentence text not null
);

comment on table dimension is
    'Keys of dimensions. Migrating fills it from the registry of this program; recording adds what a workload brings';
comment on column dimension.name is 'Key';
comment on column dimension.kind is 'Type of its values: str, int, float or bool';
comment on column dimension.sentence is 'What it means';

create table experiment (
    name text primary key,
    determines text references metric,
    is_until_exhausted boolean not null
);

comment on table experiment is
    'Experiments that are no family of workloads. Migrating fills it from the registry of this program';
comment on column experiment.name is 'Name, as in results';
comment on column experiment.determines is
    'The metric whose value each of its trials is there to find; NULL where there is none such';
comment on column experiment.is_until_exhausted is
    'Whether its trials go on until no level or noise budget is left: then their samples count with status exhausted, too';

create table published (
    id integer primary key,
    source text not null,
    year integer not null,
    system text not null,
    host text not null,
    scheme text not null check (scheme in ('bfv', 'bgv', 'ckks')),
    figure text not null,
    metric text not null,
    unit text not null,
    value double precision not null,
    stated text not null,
    note text,
    variant text,
    experiment text,
    operation text,
    phase text,
    ring_dimension integer,
    repetitions integer,
    data_set text,
    checksum text not null
);

comment on table published is
    'Figures from papers, which stand beside ours and are never ranked; those that a case of ours is about name it';
comment on column published.id is 'Place in the file';
comment on column published.source is 'Paper or report';
comment on column published.year is 'Year of the source';
comment on column published.system is 'Library or accelerator that was measured';
comment on column published.host is 'Machine that it was measured on, as the source says';
comment on column published.scheme is 'bfv, bgv or ckks';
comment on column published.figure is 'What was measured, in the words of the source';
comment on column published.metric is 'time, peak_memory, accuracy, mse or expansion';
comment on column published.unit is 'Unit of value: s, bytes, share or ratio';
comment on column published.value is 'The figure in that unit';
comment on column published.stated is 'The figure as the source has it';
comment on column published.note is 'What one should know of it; NULL where there is nothing';
comment on column published.variant is 'Variant of ours that it is about; NULL: all of them';
comment on column published.experiment is 'Experiment of our case; NULL where we have none';
comment on column published.operation is
    'Our operation or workload; several that do the same are separated by |; NULL where we have none';
comment on column published.phase is 'Phase of our case; NULL where we have none';
comment on column published.ring_dimension is 'N of our case; NULL where the source leaves it open';
comment on column published.repetitions is 'Operations in a row of our case; NULL where it does not repeat';
comment on column published.data_set is 'Real data of our case; NULL where vectors are made up';
comment on column published.checksum is 'Of the file that it was loaded from';

-- Facts: runs, what was executed in them, and every value that was recorded.

create table host (
    id text primary key,
    fingerprint text not null,
    hostname text not null,
    cpu_model text not null,
    cpu_flags text[] not null,
    caches_bytes jsonb not null,
    cores integer not null,
    memory_bytes bigint not null,
    operating_system text not null,
    kernel text not null,
    governor text,
    turbo boolean,
    smt boolean,
    container text,
    clock_source text,
    clock_resolution_ns bigint not null
);

create table run (
    id text primary key,
    suite text not null,
    suite_text text not null,
    seed numeric not null,
    started_at timestamptz not null,
    software_version text not null,
    host_id text not null references host,
    host_clock_noise double precision not null,
    host_load_1min double precision not null,
    host_warnings text[] not null,
    continues text references run,
    label text check (label ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
    is_imported boolean not null default false
);

create index run_continues on run (continues) where continues is not null;
create index run_label on run (label) where label is not null;

comment on column run.continues is
    'The run whose job this run goes on with on another host; NULL where it began the job, or had none';
comment on column run.label is 'A name that its owner gave it; several runs may have one name, which then means the latest';
comment on column run.is_imported is 'Whether it was read from an archive: measured elsewhere, or earlier';

create table case_request (
    key text primary key,
    request jsonb not null
);

comment on table case_request is 'Cases as suites request them, by their keys';

create table build (
    id text primary key,
    facts jsonb not null
);

comment on table build is 'What library builds say of themselves: compiler, flags, commit and the like';

create table parameter_set (
    id text primary key,
    moduli numeric[] not null,
    special_moduli numeric[] not null
);

comment on table parameter_set is 'Primes that libraries used; their sizes and all else of a parameter set are columns of case_info';

-- The columns from variant on are the dimensions that ciphermark_core.descriptor declares, which comments on them, too.
create table case_info (
    case_info_id bigint generated always as identity primary key,
    run_id text not null references run,
    case_key text not null references case_request,
    comparison_key text not null,
    build_id text references build,
    parameter_set_id text references parameter_set,
    status text not null check (status in (
        'ok', 'wrong', 'unsupported', 'exhausted', 'crashed', 'out_of_memory', 'timed_out', 'cancelled'
    )),
    variant text not null,
    library text,
    library_version text,
    hexl boolean,
    is_debug boolean,
    is_reference boolean,
    experiment text not null,
    operation text not null,
    scheme text not null check (scheme in ('bfv', 'bgv', 'ckks')),
    ring_dimension integer not null,
    requested_ring_dimension integer not null,
    modulus_bits integer[],
    requested_modulus_bits integer[],
    plain_modulus numeric,
    scale double precision,
    ring_dimension_is_minimum boolean not null,
    security_bits integer not null,
    chain_depth integer,
    division text not null,
    secret text,
    bootstrapping text,
    hamming_weight integer,
    dimensions jsonb not null,
    data_set text,
    data_pattern text not null,
    size bigint not null,
    threads integer not null,
    slots integer not null,
    ciphertexts bigint not null,
    log_q double precision,
    log_qp double precision,
    security_2018 integer,
    security_2024 integer,
    security_compared integer,
    key_switching text,
    digits integer,
    special_primes integer,
    scaling text,
    secret_distribution text,
    encryption text,
    unique nulls not distinct (run_id, case_key, build_id, parameter_set_id, status)
);

create index case_info_comparison on case_info (run_id, comparison_key);
create index case_info_case on case_info (case_key);

comment on table case_info is
    'Cases as they were executed: a row per run, case, build, parameter set and status, whose trials are pooled';

create table trial (
    id text primary key,
    run_id text not null references run,
    case_info_id bigint not null references case_info,
    process integer not null,
    seed numeric not null,
    budget jsonb not null,
    status text not null,
    error text,
    max_abs_error double precision,
    wrong_slots bigint,
    tolerance double precision,
    precision_bits double precision,
    started_at timestamptz not null,
    duration_s double precision not null,
    facts jsonb not null,
    sequence bigint generated always as identity
);

create index trial_run_sequence on trial (run_id, sequence);
create index trial_case_info on trial (case_info_id);

comment on table trial is 'Executions of a case in a worker';
comment on column trial.sequence is 'The order in which trials were recorded';

create table series (
    id bigint generated always as identity primary key,
    trial_id text not null,
    stage text not null,
    party text,
    step text,
    metric text not null references metric
);

create unique index series_of_trial on series (trial_id, stage, party, step, metric) nulls not distinct;

comment on table series is 'Samples of one metric, taken at one place of a trial';
comment on column series.stage is
    'keys, encrypt, operation, decrypt or the object that a size belongs to; of a workload one of its stages';
comment on column series.party is 'The party whose own sum or peak it is; otherwise NULL';
comment on column series.step is 'A part of the stage, of whichever party; otherwise NULL';

-- series_id has no foreign key: samples are only written with their series, in one transaction, and the check would
-- halve the rate.
create table sample (
    series_id bigint not null,
    value double precision not null,
    loops bigint not null,
    ordinal integer not null,
    repetitions integer,
    is_warmup boolean not null,
    is_disturbed boolean not null default false,
    slow_down double precision not null default 1
);

create index sample_series on sample (series_id);

comment on table sample is 'Every value that was recorded, of a series';
comment on column sample.value is 'In the unit of the metric, per execution';
comment on column sample.loops is 'Executions that it is the mean of';
comment on column sample.ordinal is
    'Its number in the series; samples of two variants with one ordinal were taken in one turn';
comment on column sample.repetitions is 'Operations applied before it was taken; otherwise NULL';
comment on column sample.is_disturbed is
    'Taken while others had the core for most of it, or, before samples were corrected, slowed it: it counts for no '
    'figure, unless there is nothing else. False also of samples beside which nothing was watched';
comment on column sample.slow_down is
    'How many times as long as on a quiet host it took, by the anchor beside it and the wait for the core: figures are '
    'made of value / slow_down. 1 also of samples beside which nothing was watched, and of what is no time';

create table program (
    digest text primary key,
    scheme text not null check (scheme in ('bfv', 'bgv', 'ckks')),
    depth integer not null,
    nodes integer not null,
    constants integer not null,
    live_ciphertexts integer not null,
    counts jsonb not null,
    content bytea not null
);

comment on table program is 'Programs that were measured: graphs of operations, once by the hash of their content';
comment on column program.digest is 'SHA-256 of content';
comment on column program.depth is 'Levels from its highest input down to its lowest value';
comment on column program.nodes is 'Number of operations';
comment on column program.constants is 'Number of plaintext constants';
comment on column program.live_ciphertexts is 'The most ciphertexts alive at once when its nodes execute in order';
comment on column program.counts is 'List of operation, level and n: what the view program_count shows';
comment on column program.content is 'The program as it was serialized; constants are named by digest alone';

create table trial_program (
    trial_id text not null references trial,
    stage text not null,
    program text not null references program,
    primary key (trial_id, stage)
);

create index trial_program_program on trial_program (program);

comment on table trial_program is 'Which program was executed in which stage of a trial';

create table trial_layer (
    trial_id text not null references trial,
    stage text not null,
    position integer not null,
    layer text not null,
    level integer not null,
    end_level integer not null,
    scale_bits double precision,
    operand_bytes bigint not null,
    result_bytes bigint not null,
    counts jsonb not null,
    primary key (trial_id, stage, position)
);

comment on table trial_layer is
    'The parts of the program that was executed in a stage of a trial, where the workload names several';
comment on column trial_layer.position is 'Its place among the layers of the stage, from 1';
comment on column trial_layer.layer is 'Its name: the step of its samples';
comment on column trial_layer.level is 'Level of its highest operand';
comment on column trial_layer.end_level is 'Level of what it ends with';
comment on column trial_layer.scale_bits is 'log2 of the scale of what it ends with; NULL in bfv and bgv';
comment on column trial_layer.operand_bytes is 'Ciphertexts and plaintexts that it takes, in memory';
comment on column trial_layer.result_bytes is 'Ciphertexts that it ends with, in memory';
comment on column trial_layer.counts is 'List of operation, level and n';

create table refusal (
    trial_id text primary key,
    run_id text not null references run,
    reason text not null,
    refused_at timestamptz not null default now()
);

create index refusal_run on refusal (run_id);

comment on table refusal is
    'Trials that were measured and cannot be recorded, with the reason; their outcomes are in the journal of the run';

-- Statistics, computed from the facts: rows of ciphermark_analysis, with the version of the method that made them.

create table case_facts (
    case_info_id bigint primary key references case_info,
    is_composed boolean not null,
    is_watched boolean not null,
    executed_ciphertexts bigint,
    anchor_s double precision,
    anchor_spread double precision,
    steal_share double precision,
    error text,
    method integer not null
);

comment on table case_facts is 'What the facts of the trials of a case come to';

create table result (
    case_info_id bigint not null references case_info,
    stage text not null,
    party text,
    step text,
    metric text not null references metric,
    repetitions integer,
    n integer not null,
    median double precision not null,
    ci_low double precision,
    ci_high double precision,
    mad double precision not null,
    min double precision not null,
    max double precision not null,
    uncorrected_n integer not null,
    uncorrected_median double precision not null,
    uncorrected_ci_low double precision,
    uncorrected_ci_high double precision,
    undisturbed_share double precision,
    slowdown double precision,
    method integer not null,
    unique nulls not distinct (case_info_id, stage, party, step, metric, repetitions)
);

comment on table result is 'Statistics of the samples of a case at one place, by repetitions';

create table ratio (
    kind text not null check (kind in ('equal_security', 'any_security', 'hexl')),
    case_info_id bigint not null references case_info,
    stage text not null,
    party text,
    step text,
    repetitions integer,
    base bigint not null references case_info,
    rank integer,
    standing text check (standing in ('win', 'tie', 'behind', 'alone')),
    median double precision not null,
    n integer not null,
    ratio double precision,
    ci_low double precision,
    ci_high double precision,
    verdict text not null,
    is_paired boolean not null,
    undisturbed_share double precision,
    uncorrected_base bigint not null references case_info,
    uncorrected_rank integer,
    uncorrected_standing text,
    uncorrected_median double precision not null,
    uncorrected_n integer not null,
    uncorrected_ratio double precision,
    uncorrected_ci_low double precision,
    uncorrected_ci_high double precision,
    uncorrected_verdict text not null,
    uncorrected_is_paired boolean not null,
    method integer not null,
    unique nulls not distinct (case_info_id, kind, stage, party, step, repetitions, base)
);

comment on table ratio is
    'Times of cases by those of another case of their comparison: of the fastest of one security level (equal_security) or '
    'of all (any_security), or of the same library with HEXL (hexl)';

create table host_state (
    run_id text primary key references run,
    timed_trials integer not null,
    watched_trials integer not null,
    timed_samples bigint not null,
    quiet_share double precision,
    short_trials integer not null,
    disturbed_phases integer not null,
    anchor_s double precision,
    anchor_spread double precision,
    anchor_cost double precision,
    run_delay_share double precision,
    steal_share double precision,
    slow_down double precision,
    anchor_gains double precision[],
    method integer not null
);

comment on table host_state is
    'What hosts were like while samples were taken: a row per run, over its trials that ended ok and timed something';

-- Jobs of the service, and what tells a run's parts and progress. The queue itself lives in a schema of its own that
-- only the service makes: see docs/decisions/0012.

create table job (
    id text primary key,
    suite text not null,
    suite_text text not null,
    variants text[] not null,
    needed_variants text[] not null,
    needed_isa text[] not null,
    needed_memory_mb bigint not null,
    queue text not null,
    queue_job_id bigint,
    state text not null check (state in ('queued', 'running', 'done', 'cancelled', 'failed')),
    reason text,
    hostname text,
    attempts integer not null default 0,
    deaths integer not null default 0,
    trials integer,
    submitted_at timestamptz not null default now(),
    started_at timestamptz,
    ended_at timestamptz,
    check ((state in ('done', 'cancelled', 'failed')) = (ended_at is not null)),
    check (state not in ('cancelled', 'failed') or reason is not null)
);

create index job_open on job (queue) where state = 'queued';
create index job_submitted on job (submitted_at, id);

comment on table job is
    'Suites that the service was asked to execute. The id is also the id of the run that begins it';
comment on column job.variants is 'The variants that were asked for; empty: all of the suite';
comment on column job.queue is 'The queue of jobs with the same needs';
comment on column job.queue_job_id is 'The job of the queue behind it, in queue.procrastinate_jobs';
comment on column job.reason is 'Why it failed or was cancelled; of an open job: what went wrong at the last attempt';
comment on column job.hostname is 'The host that executes it, or did so last';
comment on column job.attempts is 'How often a host began to execute it';
comment on column job.deaths is 'How many of these attempts died, or their worker did';
comment on column job.trials is 'How many trials it comes to; NULL before its first attempt';

create table offer (
    worker_id bigint primary key,
    hostname text not null,
    fingerprint text not null,
    cpu_model text not null,
    variants text[] not null,
    isa text[] not null,
    memory_mb bigint not null,
    since timestamptz not null default now(),
    cores integer
);

comment on table offer is
    'What the hosts of benchmark workers have; worker_id is that of queue.procrastinate_workers';
comment on column offer.cores is 'Cores that the worker may use; NULL where it was started before this was told';

-- Where a series is: the stage, and after a dot the step or the party.
create function phase_of(stage text, party text, step text) returns text
language sql immutable parallel safe
return stage || coalesce('.' || coalesce(step, party), '');

comment on function phase_of(text, text, text) is 'Where a series is, as one text: the stage, stage.step or stage.party';

-- The role of those who only read: the dashboard takes it on. Where the server does not let us have it, reading goes on
-- without: in read-only transactions, under the rights of whoever connects.
do $$
begin
    if not exists (select from pg_roles where rolname = 'ciphermark_reader') then
        create role ciphermark_reader;
        execute format('grant ciphermark_reader to %I', current_user);
    end if;
exception
    when insufficient_privilege or duplicate_object or unique_violation then null;
end
$$;

do $$
begin
    if exists (select from pg_roles where rolname = 'ciphermark_reader') then
        grant usage on schema public to ciphermark_reader;
        grant select on all tables in schema public to ciphermark_reader;
        alter default privileges in schema public grant select on tables to ciphermark_reader;
    end if;
end
$$;
