-- Tables. Units are in column names; absent is NULL, never 0. Rows that describe something
-- (host, build, parameter set, case) are named by a hash of their content, so that recording them twice
-- is recording them once. Needs PostgreSQL 15.

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

create table build (
    id text primary key,
    library text not null,
    variant text not null,
    version text not null,
    hexl boolean not null,
    is_debug boolean not null,
    is_reference boolean not null,
    facts jsonb not null
);

create table parameter_set (
    id text primary key,
    scheme text not null check (scheme in ('bfv', 'bgv', 'ckks')),
    ring_dimension integer not null,
    modulus_bits integer[] not null,
    moduli numeric[] not null,
    special_moduli numeric[] not null,
    log_q double precision not null,
    log_qp double precision not null,
    plain_modulus numeric,
    scale double precision,
    slots integer not null,
    security_2018 integer not null,
    security_2024 integer not null
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
    host_warnings text[] not null
);

-- Parameters as requested; modulus_bits NULL asked for the library's default chain.
create table case_ (
    key text primary key,
    comparison_key text not null,
    variant text not null,
    experiment text not null,
    operation text not null,
    scheme text not null check (scheme in ('bfv', 'bgv', 'ckks')),
    ring_dimension integer not null,
    modulus_bits integer[],
    plain_modulus numeric,
    scale_bits integer,
    security_bits integer not null,
    slots integer not null,
    size bigint not null,
    data_pattern text not null,
    threads integer not null,
    cap integer
);

create index case_comparison_key on case_ (comparison_key);

create table trial (
    id text primary key,
    run_id text not null references run,
    case_key text not null references case_,
    build_id text references build,
    parameter_set_id text references parameter_set,
    process integer not null,
    seed numeric not null,
    budget jsonb not null,
    status text not null check (status in (
        'ok', 'wrong', 'unsupported', 'exhausted', 'crashed', 'out_of_memory', 'timed_out', 'cancelled'
    )),
    error text,
    max_abs_error double precision,
    wrong_slots bigint,
    tolerance double precision,
    precision_bits double precision,
    started_at timestamptz not null,
    duration_s double precision not null,
    facts jsonb not null
);

create index trial_run on trial (run_id);
create index trial_case on trial (case_key);

-- trial_id names a trial without a foreign key: samples are only written with their trial, in one transaction, and
-- the check would halve the rate.
create table sample (
    trial_id text not null,
    phase text not null,
    metric text not null,
    unit text not null,
    value double precision not null,
    loops bigint not null,
    ordinal integer not null,
    repetitions integer,
    is_warmup boolean not null
);

create index sample_trial on sample (trial_id);
