-- The schema that the migrations produce, to be read in one piece; tests/integration/test_db_schema.py keeps it true.

create table schema_migration (
    version integer primary key,
    name text not null,
    checksum text not null,
    applied_at timestamptz not null default now()
);

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
    host_warnings text[] not null,
    continues text references run
);

comment on column run.continues is
    'The run whose job this run goes on with on another host; NULL where it began the job, or had none';

create index run_continues on run (continues) where continues is not null;

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
    cap integer,
    depth integer check (depth > 0),
    is_least boolean not null default false,
    repetitions integer check (repetitions > 0),
    data_set text
);

comment on column case_.depth is
    'Multiplications one after another that the modulus chain was made for; NULL where the chain was given or is the '
    'library''s default';
comment on column case_.is_least is
    'Whether ring_dimension is the least to try: then the smallest from there on that is secure was taken';
comment on column case_.repetitions is 'Operations in a row (experiment chain); otherwise NULL';
comment on column case_.data_set is 'Name of the real data (experiment learning); otherwise NULL';

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
    facts jsonb not null,
    sequence bigint generated always as identity
);

create index trial_run_case on trial (run_id, case_key);
create index trial_case on trial (case_key);
create index trial_run_sequence on trial (run_id, sequence);

comment on column trial.sequence is 'The order in which trials were recorded';

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
    since timestamptz not null default now()
);

comment on table offer is
    'What the hosts of benchmark workers have; worker_id is that of queue.procrastinate_workers';

-- Views: the public interface. The statistics are those of ciphermark_core.statistics, to the last bit.

-- NOISE_FLOOR of ciphermark_core.statistics.
create function noise_floor() returns double precision
language sql immutable parallel safe
return 1.05::double precision;

comment on function noise_floor() is
    'Two processes of one binary differ by up to this factor: no verdict below it';

-- The largest r with P(Binomial(n, 1/2) < r) <= 2.5 %. Terms are summed by way of their logarithms, since 2^-n
-- is no float from n = 1075 on.
create function interval_rank_of_many(n bigint) returns integer
language plpgsql immutable strict parallel safe
as $$
declare
    rank integer := 0;
    log_term double precision := -n * ln(2::double precision);
    tail double precision := 0;
begin
    loop
        if log_term > -700 then
            tail := tail + exp(log_term);
        end if;
        exit when rank >= n or tail > (1 - 0.95::double precision) / 2;
        log_term := log_term + ln((n - rank)::double precision / (rank + 1));
        rank := rank + 1;
    end loop;
    return nullif(rank, 0);
end
$$;

comment on function interval_rank_of_many(bigint) is 'Internal: interval_rank for any n, added up';

-- Not strict, so that it becomes part of the query that calls it.
create function interval_rank(n bigint) returns integer
language sql immutable parallel safe
return case
    when n <= 256 then nullif((array[
        0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 8, 8, 8, 9, 9, 10, 10, 10, 11,
        11, 12, 12, 13, 13, 13, 14, 14, 15, 15, 16, 16, 16, 17, 17, 18, 18, 19, 19, 19, 20, 20, 21, 21, 22, 22,
        22, 23, 23, 24, 24, 25, 25, 26, 26, 26, 27, 27, 28, 28, 29, 29, 29, 30, 30, 31, 31, 32, 32, 33, 33, 33,
        34, 34, 35, 35, 36, 36, 37, 37, 38, 38, 38, 39, 39, 40, 40, 41, 41, 42, 42, 42, 43, 43, 44, 44, 45, 45,
        46, 46, 47, 47, 47, 48, 48, 49, 49, 50, 50, 51, 51, 52, 52, 52, 53, 53, 54, 54, 55, 55, 56, 56, 57, 57,
        58, 58, 58, 59, 59, 60, 60, 61, 61, 62, 62, 63, 63, 63, 64, 64, 65, 65, 66, 66, 67, 67, 68, 68, 69, 69,
        69, 70, 70, 71, 71, 72, 72, 73, 73, 74, 74, 75, 75, 75, 76, 76, 77, 77, 78, 78, 79, 79, 80, 80, 81, 81,
        82, 82, 82, 83, 83, 84, 84, 85, 85, 86, 86, 87, 87, 88, 88, 88, 89, 89, 90, 90, 91, 91, 92, 92, 93, 93,
        94, 94, 95, 95, 95, 96, 96, 97, 97, 98, 98, 99, 99, 100, 100, 101, 101, 102, 102, 102, 103, 103, 104,
        104, 105, 105, 106, 106, 107, 107, 108, 108, 109, 109, 110, 110, 110, 111, 111, 112, 112
    ])[n::integer], 0)
    else interval_rank_of_many(n)
end;

comment on function interval_rank(bigint) is
    'The rank r such that [x_(r), x_(n+1-r)] covers the median with at least 95 %; NULL where n is too small';

create function median_of(sorted double precision[]) returns double precision
language sql immutable parallel safe
return (sorted[(cardinality(sorted) + 1) / 2] + sorted[cardinality(sorted) / 2 + 1]) / 2;

comment on function median_of(double precision[]) is 'Median of an array in ascending order';

create function interval_low(sorted double precision[]) returns double precision
language sql immutable parallel safe
return sorted[interval_rank(cardinality(sorted))];

create function interval_high(sorted double precision[]) returns double precision
language sql immutable parallel safe
return sorted[cardinality(sorted) + 1 - interval_rank(cardinality(sorted))];

comment on function interval_low(double precision[]) is
    'Lower bound of the 95 % order-statistic interval of the median; NULL where n is too small';
comment on function interval_high(double precision[]) is
    'Upper bound of the 95 % order-statistic interval of the median; NULL where n is too small';

create function mad_of(sorted double precision[]) returns double precision
language sql immutable parallel safe
return (
    select median_of(array_agg(abs(x - median_of(sorted)) order by abs(x - median_of(sorted))))
    from unnest(sorted) as x
);

comment on function mad_of(double precision[]) is 'Median absolute deviation from the median, unscaled';

create function verdict(low double precision, high double precision) returns text
language sql immutable parallel safe
return case
    when low is null or high is null then 'too few samples'
    when low > noise_floor() then 'faster'
    when high < 1 / noise_floor() then 'slower'
    else 'no difference'
end;

comment on function verdict(double precision, double precision) is
    'What the interval of a ratio of times a/b says about b';

-- Trials that are pooled into one figure: the same case, build and parameters in one run, with the same status.
create view trial_group as
select
    t.run_id,
    t.case_key,
    t.status,
    t.build_id,
    t.parameter_set_id,
    t.status = 'ok' or (t.status = 'exhausted' and c.experiment in ('depth', 'noise')) as is_counted,
    array_agg(t.id) as trial_ids,
    string_agg(distinct t.error, E'\n') filter (where t.error is not null) as error
from trial as t
join case_ as c on c.key = t.case_key
group by t.run_id, t.case_key, t.status, t.build_id, t.parameter_set_id, c.experiment;

comment on view trial_group is
    'Internal: trials pooled into one figure; is_counted tells whether their samples may be shown';

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
    s.unit,
    coalesce(s.repetitions, c.repetitions) as repetitions,
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
    c.is_least,
    c.data_set
from trial_group as g
join run as r on r.id = g.run_id
join host as h on h.id = r.host_id
join case_ as c on c.key = g.case_key
left join build as b on b.id = g.build_id
left join parameter_set as p on p.id = g.parameter_set_id
left join lateral (
    select phase, metric, unit, repetitions, array_agg(value order by value) as sorted
    from sample
    where trial_id = any (g.trial_ids) and g.is_counted and not is_warmup
    group by phase, metric, unit, repetitions
) as s on true;

-- Views that compare times pair by pair: samples that two variants took in the same turn, which is the same process
-- number and ordinal. Both sides are read in one pass and paired by grouping: no plan can make that quadratic.

create view speedup as
select
    g.run_id,
    g.library,
    off_case.variant as variant_off,
    on_case.variant as variant_on,
    off_case.scheme,
    coalesce(p.ring_dimension, off_case.ring_dimension) as ring_dimension,
    p.modulus_bits,
    p.log_qp,
    p.security_2018,
    off_case.experiment,
    off_case.operation,
    pairs.phase,
    off_case.size,
    off_case.data_pattern,
    off_case.threads,
    pairs.repetitions,
    cardinality(pairs.sorted) as n,
    median_of(pairs.sorted) as ratio,
    interval_low(pairs.sorted) as ci_low,
    interval_high(pairs.sorted) as ci_high,
    verdict(interval_low(pairs.sorted), interval_high(pairs.sorted)) as verdict,
    off_case.comparison_key,
    p.security_2024
from (
    select
        off_trial.run_id,
        off_build.library,
        off_trial.parameter_set_id,
        off_trial.case_key as off_case_key,
        on_trial.case_key as on_case_key,
        array_agg(off_trial.id) as off_trial_ids,
        array_agg(on_trial.id) as on_trial_ids
    from trial as off_trial
    join build as off_build on off_build.id = off_trial.build_id and not off_build.hexl
    join case_ as c on c.key = off_trial.case_key
    join case_ as d on d.comparison_key = c.comparison_key
    join trial as on_trial
        on on_trial.run_id = off_trial.run_id
        and on_trial.case_key = d.key
        and on_trial.process = off_trial.process
        and on_trial.status = 'ok'
    join build as on_build
        on on_build.id = on_trial.build_id and on_build.hexl and on_build.library = off_build.library
    left join parameter_set as off_set on off_set.id = off_trial.parameter_set_id
    left join parameter_set as on_set on on_set.id = on_trial.parameter_set_id
    where off_trial.status = 'ok' and off_set.security_2018 is not distinct from on_set.security_2018
    group by
        off_trial.run_id, off_build.library, off_trial.parameter_set_id, off_trial.case_key, off_build.id,
        on_trial.case_key, on_build.id
) as g
join case_ as off_case on off_case.key = g.off_case_key
join case_ as on_case on on_case.key = g.on_case_key
left join parameter_set as p on p.id = g.parameter_set_id
cross join lateral (
    select phase, repetitions, array_agg(off_s / on_s order by off_s / on_s) as sorted
    from (
        select
            s.phase,
            s.repetitions,
            max(s.value) filter (where s.trial_id = any (g.off_trial_ids)) as off_s,
            max(s.value) filter (where s.trial_id = any (g.on_trial_ids)) as on_s
        from sample as s
        join trial as t on t.id = s.trial_id
        where
            s.trial_id = any (g.off_trial_ids || g.on_trial_ids) and s.metric = 'time' and not s.is_warmup
        group by t.process, s.phase, s.repetitions, s.ordinal
    ) as pair
    where off_s is not null and on_s > 0
    group by phase, repetitions
) as pairs;

-- The views ratio and ratio_any_security. Trials that took turns overlap in time: their samples pair up. Those of a
-- run that was resumed in between, or too large to be alive together, do not: their medians are divided.
create function ratios(any_security boolean) returns table (
    run_id text,
    variant text,
    fastest_variant text,
    scheme text,
    ring_dimension integer,
    log_qp double precision,
    security_2018 integer,
    is_equal_security boolean,
    is_equal_parameters boolean,
    experiment text,
    operation text,
    phase text,
    size bigint,
    data_pattern text,
    threads integer,
    repetitions integer,
    rank bigint,
    median_s double precision,
    n integer,
    ratio double precision,
    ci_low double precision,
    ci_high double precision,
    verdict text,
    comparison_key text,
    is_paired boolean,
    security_2024 integer,
    fastest_ring_dimension integer,
    fastest_log_qp double precision,
    fastest_security_2018 integer,
    depth integer,
    is_least boolean,
    data_set text,
    case_key text
)
language sql stable parallel safe
begin atomic
select
    ranked.run_id,
    ranked.variant,
    ranked.fastest_variant,
    ranked.scheme,
    ranked.ring_dimension,
    ranked.log_qp,
    ranked.security_2018,
    ranked.security_2018 = ranked.fastest_security_2018,
    ranked.ring_dimension = ranked.fastest_ring_dimension
    and abs(ranked.log_qp - ranked.fastest_log_qp) <= 1,
    ranked.experiment,
    ranked.operation,
    ranked.phase,
    ranked.size,
    ranked.data_pattern,
    ranked.threads,
    ranked.repetitions,
    ranked.rank,
    median_of(ranked.sorted),
    case
        when pairs.sorted is not null then cardinality(pairs.sorted)
        else least(cardinality(ranked.sorted), cardinality(ranked.fastest_sorted))
    end,
    figures.ratio,
    figures.low,
    figures.high,
    verdict(1 / figures.high, 1 / figures.low),
    ranked.comparison_key,
    pairs.sorted is not null,
    ranked.security_2024,
    ranked.fastest_ring_dimension,
    ranked.fastest_log_qp,
    ranked.fastest_security_2018,
    ranked.depth,
    ranked.is_least,
    ranked.data_set,
    ranked.case_key
from (
    select
        timed.*,
        rank() over fastest_first as rank,
        first_value(timed.variant) over fastest_first as fastest_variant,
        first_value(timed.trial_ids) over fastest_first as fastest_trial_ids,
        first_value(timed.sorted) over fastest_first as fastest_sorted,
        first_value(timed.security_2018) over fastest_first as fastest_security_2018,
        first_value(timed.ring_dimension) over fastest_first as fastest_ring_dimension,
        first_value(timed.log_qp) over fastest_first as fastest_log_qp
    from (
        select
            g.run_id,
            c.comparison_key,
            c.key as case_key,
            c.variant,
            c.scheme,
            coalesce(p.ring_dimension, c.ring_dimension) as ring_dimension,
            p.log_qp,
            p.security_2018,
            p.security_2024,
            c.experiment,
            c.operation,
            s.phase,
            c.size,
            c.data_pattern,
            c.threads,
            s.repetitions as sample_repetitions,
            coalesce(s.repetitions, c.repetitions) as repetitions,
            c.depth,
            c.is_least,
            c.data_set,
            s.sorted,
            g.trial_ids
        from trial_group as g
        join case_ as c on c.key = g.case_key
        left join build as b on b.id = g.build_id
        left join parameter_set as p on p.id = g.parameter_set_id
        cross join lateral (
            select sample.phase, sample.repetitions, array_agg(sample.value order by sample.value) as sorted
            from sample
            where sample.trial_id = any (g.trial_ids) and sample.metric = 'time' and not sample.is_warmup
            group by sample.phase, sample.repetitions
        ) as s
        where g.status = 'ok' and b.is_reference is not true
    ) as timed
    window fastest_first as (
        partition by
            timed.run_id,
            timed.comparison_key,
            timed.phase,
            timed.sample_repetitions,
            case when any_security then null else timed.security_2018 end
        order by median_of(timed.sorted), timed.variant
    )
) as ranked
cross join lateral (
    select array_agg(pair.own_s / pair.fastest_s order by pair.own_s / pair.fastest_s) as sorted
    from (
        select
            max(s.value) filter (where s.trial_id = any (ranked.trial_ids)) as own_s,
            max(s.value) filter (where s.trial_id = any (ranked.fastest_trial_ids)) as fastest_s,
            max(t.started_at) <= min(t.started_at + t.duration_s * interval '1 second') as is_one_turn
        from sample as s
        join trial as t on t.id = s.trial_id
        where
            s.trial_id = any (ranked.trial_ids || ranked.fastest_trial_ids)
            and s.phase = ranked.phase
            and s.repetitions is not distinct from ranked.sample_repetitions
            and s.metric = 'time'
            and not s.is_warmup
        group by t.process, s.ordinal
    ) as pair
    where pair.own_s is not null and pair.fastest_s > 0 and pair.is_one_turn
) as pairs
cross join lateral (
    select
        coalesce(
            median_of(pairs.sorted), median_of(ranked.sorted) / nullif(median_of(ranked.fastest_sorted), 0)
        ) as ratio,
        case
            when pairs.sorted is not null then interval_low(pairs.sorted)
            else interval_low(ranked.sorted) / nullif(interval_high(ranked.fastest_sorted), 0)
        end as low,
        case
            when pairs.sorted is not null then interval_high(pairs.sorted)
            else interval_high(ranked.sorted) / nullif(interval_low(ranked.fastest_sorted), 0)
        end as high
) as figures;
end;

create view ratio as select * from ratios(false);

create view ratio_any_security as select * from ratios(true);

-- The figures of the file published.csv, which migrating loads. A new file replaces them all.
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

-- The case of ours that a published figure is about. The sources leave open which vectors they took: of several
-- cases that differ in nothing else, the fullest vector of random data in one ciphertext stands for them.
create view published_match as
select distinct on (r.run_id, p.id, r.variant, r.operation, r.ring_dimension, r.is_least)
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
    r.is_least,
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
where r.status = 'ok' and r.threads = 1 and (r.ciphertexts = 1 or r.experiment = 'learning')
order by
    r.run_id, p.id, r.variant, r.operation, r.ring_dimension, r.is_least, r.data_pattern = 'random' desc, r.size desc,
    r.case_key;

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
    c.cap,
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
        min(value) filter (where metric = 'depth')::integer as depth,
        bool_and(value <> 0) filter (where metric = 'is_capped') as is_capped
    from sample
    where trial_id = any (g.trial_ids) and g.is_counted and not is_warmup
) as s
where c.experiment = 'depth';

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
        phase,
        repetitions,
        median_of(array_agg(value order by value) filter (where metric = 'noise_budget')) as noise_budget_bits,
        median_of(array_agg(value order by value) filter (where metric = 'precision')) as precision_bits
    from sample
    where
        trial_id = any (g.trial_ids)
        and metric in ('noise_budget', 'precision')
        and g.is_counted
        and not is_warmup
    group by phase, repetitions
) as s;

create view security as
select
    p.id as parameter_set_id,
    p.scheme,
    p.ring_dimension,
    p.modulus_bits,
    p.log_q,
    p.log_qp,
    p.plain_modulus,
    p.scale,
    p.slots,
    p.security_2018,
    p.security_2024,
    u.variants
from parameter_set as p
left join (
    select t.parameter_set_id, array_agg(distinct c.variant) as variants
    from trial as t
    join case_ as c on c.key = t.case_key
    group by t.parameter_set_id
) as u on u.parameter_set_id = p.id;

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
    'time, cpu_time, peak_memory, size, noise_budget, precision, depth, is_capped, ...; in learning also accuracy, '
    'mse, agreement, noise_error, rounding_error, plaintext_size, expansion; NULL where nothing counts (see status)';
comment on column results.unit is 'Unit of the metric: s, bytes, bits, operations, flag, share, ratio';
comment on column results.repetitions is
    'Operations applied before this value was taken (depth, noise), or in a row (chain); otherwise NULL';
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
comment on column results.is_least is
    'Whether the ring dimension is the smallest that is secure for the chain, rather than given by the suite';
comment on column results.data_set is 'Name of the real data; NULL where vectors are made up';

comment on view speedup is
    'What HEXL brings: time without HEXL / time with it, sample by sample, for two builds of one '
    'library at one security level (2018) in one run';
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
    'keys, encrypt, operation or decrypt; in learning a stage (prepare, train, infer), or a step or party of one '
    '(train.encrypt, train.server); or the object that a size belongs to';
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
comment on column speedup.security_2024 is
    'Classical security in bits (0, 128, 192, 256) by the 2024 guidelines; NULL like log_q';

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
    'Operations applied before this value was taken (depth, noise), or in a row (chain); otherwise NULL';
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
comment on column ratio.is_least is
    'Whether the ring dimension is the smallest that is secure for the chain, rather than given by the suite';
comment on column ratio.data_set is 'Name of the real data; NULL where vectors are made up';
comment on column ratio.case_key is 'The case: the same in all runs and on all hosts';

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
comment on function ratios(boolean) is
    'Internal: the rows of ratio, or with any_security those of ratio_any_security';

-- The columns mean the same in both views, but for those that are about the level.
do $$
declare
    name text;
    description text;
begin
    for name, description in
        select attname, col_description(attrelid, attnum)
        from pg_attribute where attrelid = 'ratio'::regclass and attnum > 0
    loop
        execute format('comment on column ratio_any_security.%I is %L', name, description);
    end loop;
end
$$;

comment on view ratio_any_security is
    'As ratio, but across security levels: a ratio with is_equal_security false compares unlike things';
comment on column ratio_any_security.fastest_variant is
    'Variant with the lowest median time, whatever its security; its own row has ratio 1';
comment on column ratio_any_security.is_equal_security is
    'Whether this variant and the fastest have the same security_2018; where false the ratio compares unlike things';
comment on column ratio_any_security.rank is 'Place by median time, whatever the security; 1 for the fastest';

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
comment on column published_match.is_least is
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
